kernel void k() {}  // REJECT: include
