/* event.h: sleeping until something changes, between threads and between processes.
 *
 * An event says "look again". Whoever changes a word that others may wait for signals the event afterwards; a
 * waiter looks at the word, spins a while, yields a while, then sleeps on the event's futex:
 *
 *     tdli_waiter w = {.event = &event};                 writer:  atomic_store(&word, 1);
 *     while (!word) tdli_waiter_turn(&w);                         tdli_event_signal(&event);
 *     tdli_waiter_end(&w);
 *
 * A signal costs one atomic addition when nobody sleeps. Sleeps are cut into slices, so that a writer killed
 * between its store and its signal delays a waiter by a slice and no more. */
#ifndef TDLI_EVENT_H
#define TDLI_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

/* May lie in shared memory; all zeros is a fresh event. */
typedef struct tdli_event {
    _Atomic uint32_t seq;     /* the futex: changes with every signal that somebody sleeps for */
    _Atomic uint32_t waiters; /* those who may sleep */
} tdli_event;

void tdli_event_signal(tdli_event *);

typedef struct tdli_waiter {
    tdli_event *event;
    int idle; /* 1: nobody depends on this wait: sleep as long as it takes */
    int turns;
    int registered; /* counted in event->waiters */
    uint32_t seq;
    int64_t last_ns; /* clock at the last turn that looked at it; 0: not yet */
    int64_t
        waited_ns; /* time spent in turns. A turn counts as at most 100 ms, so that a process that was stopped
                           (by a debugger, SIGSTOP) does not find its own waits expired when it goes on */
} tdli_waiter;

/* One look was in vain: pause, yield or sleep. Returns 1 if the turn was long enough (a yield or a sleep) for the
 * caller to look at rarer conditions, too. */
int tdli_waiter_turn(tdli_waiter *);
void tdli_waiter_end(tdli_waiter *);

int64_t tdli_now_ns(void); /* monotonic */

#endif
