/* packet.h: packets over Unix-domain sockets, with a descriptor if need be, and with a deadline (on tdli_now_ns).
 * Errors: TIMEOUT, PEER_LOST (the other side closed), SYSTEM_ERROR. */
#ifndef TDLI_PACKET_H
#define TDLI_PACKET_H

#include "tdl.h"

/* `name` is in the abstract name space. */
tdl_status tdli_packet_listen(tdl_ctx *, const char *name, int backlog, int *listener);
tdl_status tdli_packet_accept(tdl_ctx *, int listener, int *fd, int64_t deadline_ns);
/* Tries until somebody listens. */
tdl_status tdli_packet_connect(tdl_ctx *, const char *name, int *fd, int64_t deadline_ns);
/* User id of the process at the other end, -1 if unknown. */
int64_t tdli_packet_uid(int fd);

/* One packet of two parts (either may be empty). `pass` and `passed`: a descriptor to go along, -1 or NULL: none.
 * A packet of another size is an error. */
tdl_status tdli_packet_send(tdl_ctx *, int fd, const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                            int pass, int64_t deadline_ns);
tdl_status tdli_packet_receive(tdl_ctx *, int fd, void *a, size_t a_bytes, void *b, size_t b_bytes,
                               int *passed, int64_t deadline_ns);

#endif
