/* A thread prints, because what takes long is one call into the library. It wakes five times a
 * second, and prints only once the same command has run for a second. */
#include "progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool running, stopping, shown;
static char text[160];
static struct timespec began;

static double seconds_since(struct timespec t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)(now.tv_sec - t.tv_sec) + 1e-9 * (double)(now.tv_nsec - t.tv_nsec);
}

static void wipe(void) {
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}

static void *print_lines(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!stopping) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&wake, &lock, &until);
        double t = seconds_since(began);
        if (!stopping && text[0] && t >= 1) {
            fprintf(stderr, "\r\033[K%s ... %.0f s", text, t);
            fflush(stderr);
            shown = true;
        }
    }
    wipe();
    pthread_mutex_unlock(&lock);
    return NULL;
}

void rg_cli_progress(const char *fmt, ...) {
    if (!isatty(STDERR_FILENO))
        return;
    pthread_mutex_lock(&lock);
    if (fmt) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
    } else {
        text[0] = 0;
        wipe();
    }
    if (fmt && !running && !stopping) {
        clock_gettime(CLOCK_REALTIME, &began);
        running = pthread_create(&thread, NULL, print_lines, NULL) == 0;
    }
    pthread_mutex_unlock(&lock);
}

void rg_cli_progress_stop(void) {
    if (!running)
        return;
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    running = stopping = false;
}
