/* SPDX-License-Identifier: MIT */
/** Unix sockets in the file system. */
#ifndef REDD_NET_UNIX_H
#define REDD_NET_UNIX_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

/** Which file a listening socket made, so that no other is ever removed. */
typedef struct redd__unix_file {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "@name": in no folder; "": none */
    dev_t device;
    ino_t inode;
    bool made; /* there is a file, and it is ours */
} redd__unix_file;

/** Listens at `path` ("@name": an abstract name) with `mode`; the socket is in *out. A socket file
 * that nobody listens on is replaced. UV_ENAMETOOLONG; UV_EADDRINUSE: somebody listens there;
 * UV_EEXIST: it is no socket; UV_EBUSY: somebody has locked the folder for a second; UV_E* of the
 * system. */
int redd__unix_listen(const char *path, unsigned mode, int backlog, redd__unix_file *file,
                      int *out);
/** Removes the file if it is still the one that was made. While the socket is open: until then a
 *  server that finds the file alive leaves it alone. */
void redd__unix_remove(redd__unix_file *file);

#endif
