/* SPDX-License-Identifier: MIT */
/** Extensions in shared objects. */
#include "runtime/worker/extensions.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

const char *redd__module_label(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** dlopen would search the system's folders for a name without a slash. */
static int as_path(const char *path, char *buf, size_t size, redd__message *m)
{
    int n = snprintf(buf, size, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (n < 0 || (size_t)n >= size)
        return redd__message_fail(m, UV_ENAMETOOLONG, "cannot load \"%s\": %s", path,
                                  redd_error_text(UV_ENAMETOOLONG));
    if (access(buf, F_OK) == 0)
        return 0;
    return redd__message_fail(m, UV_ENOENT, "cannot load \"%s\": %s", path,
                              redd_error_text(UV_ENOENT));
}

int redd__module_open(const char *path, const redd_extension **out, redd__message *m)
{
    char buf[PATH_MAX];
    int rc = as_path(path, buf, sizeof(buf), m);
    if (rc < 0)
        return rc;
    void *object = dlopen(buf, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return redd__message_fail(m, UV_EINVAL, "cannot load %s", dlerror());
    redd_extension_entry_fn entry;
    void *symbol = dlsym(object, REDD_EXTENSION_ENTRY_SYMBOL);
    memcpy(&entry, &symbol, sizeof(entry)); /* ISO C has no cast from object to function */
    const redd_extension *extension = symbol ? entry() : NULL;
    if (!extension)
        return redd__message_fail(m, REDD_ESYMBOL, "%s does not export %s",
                                  redd__module_label(path), REDD_EXTENSION_ENTRY_SYMBOL);
    *out = extension;
    return 0;
}
