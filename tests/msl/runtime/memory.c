// Device memory: the same bytes at two addresses. The kernels' address lies between guard pages and can be closed, so
// that an access beyond the end, or to memory that was not made resident, faults; the host's address is always open.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

enum { ACCESS_NONE, ACCESS_READ, ACCESS_READ_WRITE };
typedef struct {
  uint64_t device_address, host_address;  // of the data, whose end, rounded up to 16 bytes, is the mapping's end
  uint64_t device_base, host_base, body_nbytes;
} region_t;

static size_t page_nbytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

int msl_allocate(uint64_t nbytes, region_t *region) {
  size_t page = page_nbytes(), body = (nbytes + page - 1) / page * page;
  if (!body) body = page;
  int file = memfd_create("msl", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)body)) return 0;
  char *device = mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *host = mmap(NULL, body, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int is_mapped = device != MAP_FAILED && host != MAP_FAILED &&
                  mmap(device + page, body, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  close(file);
  if (!is_mapped) return 0;
  size_t start = body - (nbytes + 15) / 16 * 16;
  region->device_base = (uint64_t)(device + page);
  region->host_base = (uint64_t)host;
  region->device_address = region->device_base + start;
  region->host_address = region->host_base + start;
  region->body_nbytes = body;
  return 1;
}

void msl_release(const region_t *region) {
  size_t page = page_nbytes();
  munmap((char *)region->device_base - page, region->body_nbytes + 2 * page);
  munmap((char *)region->host_base, region->body_nbytes);
}

int msl_protect(const region_t *region, int access) {
  int protection = access == ACCESS_NONE ? PROT_NONE : access == ACCESS_READ ? PROT_READ : PROT_READ | PROT_WRITE;
  return mprotect((void *)region->device_base, region->body_nbytes, protection) == 0;
}
