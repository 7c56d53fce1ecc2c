/* Adjoints by pragma. */
#ifndef RG_LANG_CUSTOM_H
#define RG_LANG_CUSTOM_H

#include "lang/ast.h"

/* Sets `adjoint` of the functions that pragmas name, once all of the file is read. */
void rg_find_adjoints(rg_unit *u);

#endif
