/* event.c: events and waiting on futexes (event.h explains both). */
#include "event.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 100, YIELDS = 40 };
static const int64_t SLICE_NS = 20 * 1000 * 1000, LONGEST_TURN_NS = 100 * 1000 * 1000;

int64_t tdli_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail with this clock and a valid pointer */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A futex that is not private: waiters may be other processes. EAGAIN, EINTR and ETIMEDOUT all mean "look again". */
static void futex_wait(_Atomic uint32_t *word, uint32_t seen, int idle) {
    struct timespec slice = {0, SLICE_NS};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, idle ? NULL : &slice, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The addition of 0 is there for its place in the order of changes to `waiters`: either it comes after a waiter's
 * registration, and we see the waiter, or before, and the waiter's next look sees what we stored. A plain load
 * could pass our store. */
void tdli_event_signal(tdli_event *e) {
    if (atomic_fetch_add_explicit(&e->waiters, 0, memory_order_acq_rel) == 0) return;
    atomic_fetch_add_explicit(&e->seq, 1, memory_order_acq_rel);
    futex_wake(&e->seq);
}

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void count_time(tdli_waiter *w) {
    int64_t now = tdli_now_ns(), spent = w->last_ns ? now - w->last_ns : 0;
    w->waited_ns += spent < LONGEST_TURN_NS ? spent : LONGEST_TURN_NS;
    w->last_ns = now;
}

int tdli_waiter_turn(tdli_waiter *w) {
    if (w->turns < SPINS) {
        w->turns++;
        pause_cpu();
        return 0;
    }
    if (w->turns < SPINS + YIELDS) {
        w->turns++;
        sched_yield();
    } else if (!w->registered) {
        /* The caller looks once more between registering and sleeping. */
        w->registered = 1;
        atomic_fetch_add_explicit(&w->event->waiters, 1, memory_order_acq_rel);
    } else {
        futex_wait(&w->event->seq, w->seq, w->idle);
    }
    if (w->registered) w->seq = atomic_load_explicit(&w->event->seq, memory_order_acquire);
    count_time(w);
    return 1;
}

void tdli_waiter_end(tdli_waiter *w) {
    if (w->registered) atomic_fetch_sub_explicit(&w->event->waiters, 1, memory_order_acq_rel);
    w->registered = 0;
}
