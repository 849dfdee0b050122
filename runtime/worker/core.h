/* SPDX-License-Identifier: MIT */
/** The extension that every runtime has: the ops that guests need for those of any other. */
#ifndef REDD_WORKER_CORE_H
#define REDD_WORKER_CORE_H

#include <redd/extension.h>

extern const redd_extension redd__core_extension;

#endif
