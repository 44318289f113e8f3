// libpq, PostgreSQL's own client library, as it is installed. Not here: anything of our own; Swift's side is KVStorePostgreSQL.

#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#include <libpq-fe.h>

#endif
