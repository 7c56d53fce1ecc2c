/* Progress on a terminal: one line on stderr for whatever takes longer than a second. */
#ifndef RG_CLI_PROGRESS_H
#define RG_CLI_PROGRESS_H

/* What is being done now ("compiling springs.c"); NULL: nothing, and the line is wiped. Does
 * nothing when stderr is no terminal. */
void rg_cli_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Before the process ends. */
void rg_cli_progress_stop(void);

#endif
