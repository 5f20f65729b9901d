#include <stdio.h>
#include "store.h"

#define LIMIT 10
#define SQUARE(x) ((x) * (x))

/* total in a comment */
struct cart {
    int size, *parts;
    char name[8];
    int (*compare)(int, int);
};

typedef struct cart cart_t;
typedef int (*visit_fn)(struct cart *);
enum kind { SMALL, LARGE = 2 };
union value { int number; float real; };

static int count = 0;
extern char *title;
int total(struct cart *c, int rate);
char **names(void);

int total(struct cart *c, int rate)
{
    int local = SQUARE(rate);
    printf("total %d", load(c->size));
    return c->compare(local, total(c, 1));
}

static char *
label(void) { return title; }
