// Includes no kernel: never compiled again because of one.
int other() { return 0; }
