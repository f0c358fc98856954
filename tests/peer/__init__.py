"""numba-cuda's own tests, run on our packages. They are downloaded: `wheel` finds them, `child` runs one module."""
