/* SPDX-License-Identifier: MIT */
/** Calls what no redd has: the system cannot link it. */
#include <redd/extension.h>

extern const redd_extension *redd_from_the_future(void);
REDD_API const redd_extension *redd_extension_entry(void);
const redd_extension *redd_extension_entry(void)
{
    return redd_from_the_future();
}
