/* SPDX-License-Identifier: MIT */
/** A shared object, but no extension. */
#include <redd/extension.h>

REDD_API int redd_another_entry(void);
int redd_another_entry(void)
{
    return 1;
}
