"""Kinto with everything in memory, on a free port of the loopback interface."""

from kinto import main

import serving

settings = {
    "storage_backend": "kinto.core.storage.memory",
    "cache_backend": "kinto.core.cache.memory",
    "permission_backend": "kinto.core.permission.memory",
    "includes": "kinto.plugins.default_bucket kinto.plugins.accounts",
    "account_create_principals": "system.Everyone",
    "paginate_by": "100",
}
settings = {"kinto." + name: value for name, value in settings.items()}
settings["multiauth.policies"] = "account"
settings["multiauth.policy.account.use"] = "kinto.plugins.accounts.authentication.AccountsAuthenticationPolicy"

serving.serve(main({}, **settings))
