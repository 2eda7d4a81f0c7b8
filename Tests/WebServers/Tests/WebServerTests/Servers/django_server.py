"""Bands, albums and labels over Django REST framework: `/SPACE/plain/albums/` as it is, `/SPACE/jsonapi/albums` as JSON:API.

Each space is a database of its own, made when it is first asked for.
"""

import collections
import os
import re
import sqlite3
import tempfile
import threading

import django
from django.conf import settings

folder = tempfile.TemporaryDirectory()


def database(name):
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.path.join(folder.name, name + ".sqlite"),
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"},
    }


class Router:
    """Leads every query to the database of the request."""

    current = threading.local()

    def db_for_read(self, model, **hints):
        return getattr(self.current, "space", "default")

    def db_for_write(self, model, **hints):
        return getattr(self.current, "space", "default")

    def allow_relation(self, first, second, **hints):
        return True


settings.configure(
    SECRET_KEY="of no use",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": database("default")},
    DATABASE_ROUTERS=[__name__ + ".Router"],
    INSTALLED_APPS=["django.contrib.contenttypes", "django_filters", "rest_framework", "rest_framework_json_api"],
    MIDDLEWARE=[__name__ + ".space", "django.middleware.common.CommonMiddleware", "django.middleware.http.ConditionalGetMiddleware"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    TIME_ZONE="UTC",
    APPEND_SLASH=False,
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "UNAUTHENTICATED_USER": None,
        "COERCE_DECIMAL_TO_STRING": True,
    },
    JSON_API_FORMAT_FIELD_NAMES="camelize",
    JSON_API_FORMAT_TYPES="dasherize",
    JSON_API_PLURALIZE_TYPES=True,
    # The reason of each answer of 500.
    LOGGING={
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"stderr": {"class": "logging.StreamHandler"}},
        "loggers": {"django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": False}},
    },
)
django.setup()

from django.db import connections, models, transaction  # noqa: E402

# A connection to each database that stays open: SQLite removes its log with the last one, and whoever connects at that moment finds the database locked.
made = {}
making = threading.Lock()


def prepare(name):
    with making:
        if name in made:
            return
        # Each request begins with a look at all databases, in whatever thread: a dictionary that grows meanwhile ends that with an error.
        connections.settings = {**connections.settings, name: dict(connections.settings["default"], **database(name))}
        keeper = sqlite3.connect(database(name)["NAME"], check_same_thread=False)
        keeper.execute("PRAGMA journal_mode=WAL")
        with connections[name].schema_editor() as editor:
            for model in (Label, Band, Album):
                editor.create_model(model)
        connections[name].close()
        made[name] = keeper


writing = collections.defaultdict(threading.Lock)


def space(get_response):
    def respond(request):
        match = re.match(r"/(\w+)/", request.path_info)
        if not match:
            return get_response(request)
        name = match.group(1)
        prepare(name)
        Router.current.space = name
        if request.method != "GET":
            # One writer after the other: SQLite's own wait for a lock is not fair, and ends.
            with writing[name]:
                return get_response(request)
        # A page is counted and read by two queries, and cut where the count ends: what others add between them would push out the last.
        connections[name].transaction_mode = "DEFERRED"
        try:
            with transaction.atomic(using=name):
                return get_response(request)
        finally:
            connections[name].transaction_mode = "IMMEDIATE"

    return respond


# Text is kept as it is sent, with the spaces at its ends.
AS_SENT = {"title": {"trim_whitespace": False}, "name": {"trim_whitespace": False}}


class Base(models.Model):
    class Meta:
        abstract = True
        app_label = "contenttypes"


class Label(Base):
    name = models.CharField(max_length=20000)


class Band(Base):
    name = models.CharField(max_length=20000, null=True, blank=True)
    founded = models.IntegerField(null=True, blank=True)


class Album(Base):
    title = models.CharField(max_length=20000, null=True, blank=True)
    year = models.IntegerField(null=True, blank=True)
    rating = models.FloatField(null=True, blank=True)
    price = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    is_live = models.BooleanField(null=True, blank=True)
    recorded_at = models.DateTimeField(null=True, blank=True)
    band = models.ForeignKey(Band, null=True, blank=True, related_name="albums", on_delete=models.SET_NULL)
    labels = models.ManyToManyField(Label, blank=True, related_name="albums")


from django.urls import include, path  # noqa: E402
from django_filters import rest_framework as filters  # noqa: E402
from rest_framework import filters as rest_filters, pagination, routers, serializers, viewsets  # noqa: E402
from rest_framework_json_api import serializers as api_serializers, views as api_views  # noqa: E402
from rest_framework_json_api import django_filters as api_filters, filters as api_rest_filters  # noqa: E402
from rest_framework_json_api import metadata, pagination as api_pagination, parsers, renderers  # noqa: E402
from rest_framework_json_api.exceptions import exception_handler  # noqa: E402



class Identifiers(filters.BaseInFilter, filters.NumberFilter):
    """One of several identifiers, which need not be there."""


ORDER = ["exact", "lt", "lte", "gt", "gte", "in", "isnull"]
TEXT = ORDER + ["startswith", "endswith", "contains"]
FILTERS = {
    Label: ({"name": TEXT}, ["albums"]),
    Band: ({"name": TEXT, "founded": ORDER}, []),
    Album: (
        {
            "title": TEXT,
            "year": ORDER,
            "rating": ORDER,
            "price": ORDER,
            "is_live": ["exact", "isnull"],
            "recorded_at": ORDER,
            "band": ["isnull"],
        },
        ["band", "labels"],
    ),
}


def filter_set(model):
    fields, references = FILTERS[model]
    members = {"Meta": type("Meta", (), {"model": model, "fields": fields})}
    for name in ["id"] + references:
        members[name] = filters.NumberFilter(field_name=name)
        members[name + "__in"] = Identifiers(field_name=name, lookup_expr="in")
    return type(model.__name__ + "Filters", (filters.FilterSet,), members)


def validate_year(self, value):
    if value is not None and 1000 < value < 1800:
        raise serializers.ValidationError("There were no records before 1800.")
    return value


# MARK: As it is


class Pages(pagination.PageNumberPagination):
    page_size = 100
    page_size_query_param = "page_size"


def plain(model, names, more={}):
    meta = type("Meta", (), {"model": model, "fields": names, "extra_kwargs": AS_SENT})
    serializer = type(model.__name__ + "Serializer", (serializers.ModelSerializer,), dict(more, Meta=meta))
    return type(
        model.__name__ + "ViewSet",
        (viewsets.ModelViewSet,),
        {
            "queryset": model.objects.order_by("id"),
            "serializer_class": serializer,
            "pagination_class": Pages,
            "filter_backends": [filters.DjangoFilterBackend, LastByIdentifier],
            "filterset_class": filter_set(model),
            "ordering_fields": "__all__",
        },
    )


class LastByIdentifier(rest_filters.OrderingFilter):
    """Orders equal values by their identifiers, so that pages are parts of one order."""

    def filter_queryset(self, request, queryset, view):
        queryset = super().filter_queryset(request, queryset, view)
        return queryset.order_by(*queryset.query.order_by, "id").distinct()


ALBUM = ["id", "title", "year", "rating", "price", "is_live", "recorded_at", "band", "labels"]
plain_router = routers.DefaultRouter()
plain_router.register("labels", plain(Label, ["id", "name"]))
plain_router.register("bands", plain(Band, ["id", "name", "founded"]))
plain_router.register("albums", plain(Album, ALBUM, {"validate_year": validate_year}))


# MARK: JSON:API


class APIPages(api_pagination.JsonApiPageNumberPagination):
    page_size = 50
    max_page_size = 100


class APILastByIdentifier(api_rest_filters.OrderingFilter, LastByIdentifier):
    pass


def api(model, names, included, more={}):
    meta = type("Meta", (), {"model": model, "fields": names, "extra_kwargs": {"albums": {"required": False}, **AS_SENT}})
    serializer = type(model.__name__ + "APISerializer", (api_serializers.ModelSerializer,), dict(more, Meta=meta))
    serializer.included_serializers = included
    return type(
        model.__name__ + "APIViewSet",
        (api_views.ModelViewSet,),
        {
            "queryset": model.objects.order_by("id"),
            "serializer_class": serializer,
            "pagination_class": APIPages,
            "parser_classes": [parsers.JSONParser],
            "renderer_classes": [renderers.JSONRenderer],
            "get_exception_handler": lambda self: exception_handler,
            "metadata_class": metadata.JSONAPIMetadata,
            "filter_backends": [api_filters.DjangoFilterBackend, APILastByIdentifier],
            "filterset_class": filter_set(model),
            "ordering_fields": "__all__",
            "http_method_names": ["get", "post", "patch", "delete", "head", "options"],
        },
    )


LabelAPI = api(Label, ["name"], {})
BandAPI = api(Band, ["name", "founded", "albums"], {})
AlbumAPI = api(Album, ALBUM[1:], {}, {"validate_year": validate_year})
BandAPI.serializer_class.included_serializers = {"albums": AlbumAPI.serializer_class}
AlbumAPI.serializer_class.included_serializers = {"band": BandAPI.serializer_class, "labels": LabelAPI.serializer_class}
api_router = routers.DefaultRouter(trailing_slash=False)
api_router.register("labels", LabelAPI, basename="api-label")
api_router.register("bands", BandAPI, basename="api-band")
api_router.register("albums", AlbumAPI, basename="api-album")

urlpatterns = [
    path("<str:space>/plain/", include(plain_router.urls)),
    path("<str:space>/jsonapi/", include(api_router.urls)),
]

if __name__ == "__main__":
    from django.core.wsgi import get_wsgi_application

    import serving

    serving.serve(get_wsgi_application())
