"""MSL functions that write the print ring of `base.print_ring`. Before: `calls`. After: `helpers` prints them."""

from __future__ import annotations

from numba_gpucore.base.print_ring import RECORD_HEAD_WORDS, RECORDS_OFFSET, RING_OFFSET, RING_WORDS

_HEAD, _RECORDS, _MASK = RING_OFFSET // 4, RECORDS_OFFSET // 4, RING_WORDS - 1

PRINT_HELPERS = {
    "print_word": f"""\
static void print_word(device atomic_uint* mailbox, uint place, uint offset, uint word)
{{
    atomic_store_explicit(&mailbox[{_RECORDS}u + ((place + offset) & {_MASK}u)], word, memory_order_relaxed);
}}
""",
    "begin_print": f"""\
static uint begin_print(device atomic_uint* mailbox, ulong program, uint line, uint words)
{{
    uint head = atomic_load_explicit(&mailbox[{_HEAD}], memory_order_relaxed);
    do {{
        uint tail = atomic_load_explicit(&mailbox[{_HEAD + 1}], memory_order_relaxed);
        if (words > {RING_WORDS}u - (head - tail)) {{
            atomic_fetch_add_explicit(&mailbox[{_HEAD + 2}], 1u, memory_order_relaxed);
            return 0xffffffffu;
        }}
    }} while (!atomic_compare_exchange_weak_explicit(&mailbox[{_HEAD}], &head, head + words, memory_order_relaxed,
                                                    memory_order_relaxed));
    print_word(mailbox, head, 1u, uint(program));
    print_word(mailbox, head, 2u, line);
    return head;
}}
""",
    "print_number": f"""\
static void print_number(device atomic_uint* mailbox, uint place, uint position, ulong number)
{{
    print_word(mailbox, place, {RECORD_HEAD_WORDS}u + 2u * position, uint(number));
    print_word(mailbox, place, {RECORD_HEAD_WORDS + 1}u + 2u * position, uint(number >> 32));
}}
""",
    # The host looks when the command buffer has completed, so the order of these writes does not matter.
    "end_print": """\
static void end_print(device atomic_uint* mailbox, uint place, uint words)
{
    print_word(mailbox, place, 0u, words);
}
""",
}
