/* Ways out for names that are not known: what they may have been meant to be. */
#ifndef RG_LANG_NEAREST_H
#define RG_LANG_NEAREST_H

#include "lang/parse.h"

/* Each returns a hint: "did you mean 'x'?", or something better, or otherwise. */
const char *rg_hint_variable(rg_parser *p, const char *name, const char *otherwise);
const char *rg_hint_function(rg_parser *p, const char *name, const char *otherwise);
const char *rg_hint_type(rg_parser *p, const char *name, const char *otherwise);
/* list: NULL-terminated. */
const char *rg_hint_word(rg_parser *p, const char *name, const char *const *list,
                         const char *otherwise);

#endif
