/* Memory of the hand-written adjoints: allocated once, so that no page fault is timed. */
#include "hand.h"

#include <stdlib.h>

void *hand_scratch(int slot, size_t bytes) {
    static struct {
        void *at;
        size_t size;
    } slots[4];
    if (slots[slot].size < bytes) {
        free(slots[slot].at);
        slots[slot].at = aligned_alloc(64, (bytes + 63) / 64 * 64);
        slots[slot].size = slots[slot].at ? bytes : 0;
    }
    return slots[slot].at;
}
