/*
 * Memory that runs out at a request of one's choice: of the library's own requests on the calling thread, of
 * SQLite's and of the JSON library's. The program is linked with --wrap for malloc, calloc and realloc.
 */
#ifndef WEIR_TEST_SCARCE_H
#define WEIR_TEST_SCARCE_H

/* First in a test, before SQLite is used. */
void scarce_init(void);

/* From now on the `at`th request fails, and those after it do not; 0: none. */
void scarce_begin(long at);

/* No more fails. 1 if there was such a request. */
int scarce_end(void);

#endif
