// The client library of Redis.
#pragma once
#include <sys/time.h>
#include <hiredis/hiredis.h>
