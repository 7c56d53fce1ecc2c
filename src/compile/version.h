/* Retrograd's version as text, from the public header: part of every cache key. */
#ifndef RG_COMPILE_VERSION_H
#define RG_COMPILE_VERSION_H

#include "retrograd.h"

#define RG_VERSION_WORD(x) #x
#define RG_VERSION_JOIN(a, b, c) RG_VERSION_WORD(a) "." RG_VERSION_WORD(b) "." RG_VERSION_WORD(c)
#define RG_VERSION_TEXT RG_VERSION_JOIN(RG_VERSION_MAJOR, RG_VERSION_MINOR, RG_VERSION_PATCH)

#endif
