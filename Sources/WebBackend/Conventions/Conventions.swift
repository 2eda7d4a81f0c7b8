internal import RemoteStore
internal import WebTransport

extension ServiceStyle {
    /// The conventions, by their names.
    static let conventions: [(name: String, style: ServiceStyle)] = [
        ("plain", .plain), ("jsonAPI", .jsonAPI), ("djangoREST", .djangoREST), ("kinto", .kinto), ("gitHub", .gitHub),
        ("couchDB", .couchDB), ("parse", .parse),
    ]

    /// Kinto: records in collections named after the entities, below the bucket that the address ends with, such as
    /// `https://kinto.example.com/v1/buckets/default/collections`. A model and an address suffice. Tried against a real server.
    ///
    /// These parts are done in memory, because Kinto does them differently: it sorts records without a field after all others, compares strings by the
    /// rules of its database, and compares dates as text. `like_` finds no text with an asterisk, and fails if a record has no text. If the database
    /// orders strings by code point, and every record has every field, the service can do more:
    ///
    /// ```swift
    /// var style = ServiceStyle.kinto
    /// style.filters.comparesTextInOrder = true
    /// style.sorting.sortsTextInOrder = true
    /// style.sorting.sortsNilFirst = true
    /// ```
    ///
    /// Kinto may change the last bit of a double. Store attributes as text if every bit or digit counts: `.at("price", .text)`.
    ///
    /// Source: https://docs.kinto-storage.org
    public static let kinto: ServiceStyle = {
        var style = ServiceStyle()
        style.collection = CollectionStyle("{name}/records")
        style.version = .number("last_modified")
        style.hasListsAtOneEnd = true
        style.omitsNil = true
        style.kind = "entity"
        style.comparesDatesAsText = true
        style.envelope = Envelope(items: "data", item: "data")
        style.filters = FilterStyle(
            .parameters,
            [
                .equal: "{name}={value}", .notEqual: "not_{name}={value}", .lessThan: "lt_{name}={value}",
                .lessThanOrEqual: "max_{name}={value}", .greaterThan: "gt_{name}={value}", .greaterThanOrEqual: "min_{name}={value}",
                .isIn: "in_{name}={values}", .isNotNil: "not_{name}=null",
            ],
            // Strings that are not quoted may be taken for other JSON.
            quoting: .json,
            // A record without the field is different from, and greater than, every value; one with null is less.
            inexact: [.notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .isNotNil],
            identifier: "id", comparesTextInOrder: false,
            listTemplates: [.equal: "contains_any_{name}=[{value}]", .isIn: "contains_any_{name}=[{values}]"])
        // Without a key of their own, records are sorted by their last change: a record that changes meanwhile could be missing from all pages.
        style.sorting = SortStyle("_sort", sortsTextInOrder: false, last: "id")
        style.paging = PagingStyle(
            .address, sizeParameter: "_limit", size: 100, next: .header("Next-Page"), total: .header("Total-Records"),
            countsByHead: true, stability: .cursors)
        style.fields = FieldsStyle("_fields={names}")
        style.saving = SavingStyle(
            createIdentified: .init(.put, "{path}/{SELF}"), precondition: .ifMatch, item: "data",
            batch: .requests(.init(path: "../../../batch")), createsIfNoneMatch: true, deletesLists: true, current: "details.existing",
            answer: .resource("data"))
        style.errors = ErrorStyle(messages: ["message", "error"], list: "details", pointer: "name", detail: "description")
        style.changeFeed = .since(parameter: "_since", token: .header("ETag"), deleted: "deleted")
        return style
    }()

    /// JSON:API 1.1, with the filters of Django REST framework's implementation: `filter[name]`, `filter[name.lt]` and their like. Tried
    /// against a real server.
    ///
    /// Source: https://jsonapi.org/format/
    public static let jsonAPI: ServiceStyle = {
        var style = ServiceStyle()
        style.attributes = "attributes"
        style.relationships = "relationships"
        style.references = .typed(data: "data", type: "type", id: "id")
        style.hasLists = true
        style.collection = CollectionStyle(names: .kebabCase)
        style.envelope = Envelope(items: "data", item: "data", included: "included", type: "type")
        style.filters = FilterStyle(.parameters, [.equal: "filter[{name}]={value}"], isInexactForText: true)
        style.sorting = SortStyle("sort", sortsTextInOrder: false)
        style.paging = PagingStyle(
            .address, sizeParameter: "page[size]", size: 50, next: .body("links.next"), total: .body("meta.pagination.count"))
        style.fields = FieldsStyle("fields[{type}]={names}")
        style.includes = IncludeStyle("include={paths}", isDeep: true)
        style.saving = SavingStyle(
            conflicts: .byReading, item: "data", constants: ["data.type": "\"{type}\"", "data.id": "\"{SELF}\""],
            answer: .resource("data"))
        style.errors = ErrorStyle(messages: [], list: "errors", pointer: "source.pointer", detail: "detail")
        style.accept = "application/vnd.api+json"
        return style
    }()

    /// Django REST framework: lists with `results`, `next` and `count`, filters of django-filter (`year__gte`), `ordering`. Each view has its own
    /// filters and orders: describe them for the calls. Tried against a real server.
    ///
    /// A view ignores a filter that it does not have, so every comparison except equality is repeated in memory. If the views have all filters that the
    /// calls name, with all lookups, say so: `style.filters.inexact = [.contains, .beginsWith, .endsWith]`.
    ///
    /// Source: https://www.django-rest-framework.org
    public static let djangoREST: ServiceStyle = {
        var style = ServiceStyle()
        style.names = .snakeCase
        style.collection = CollectionStyle("{name}/")
        style.envelope = Envelope(items: "results")
        style.filters = FilterStyle(
            .parameters,
            [
                .equal: "{name}={value}", .lessThan: "{name}__lt={value}", .lessThanOrEqual: "{name}__lte={value}",
                .greaterThan: "{name}__gt={value}", .greaterThanOrEqual: "{name}__gte={value}", .isIn: "{name}__in={values}",
                .contains: "{name}__contains={value}", .beginsWith: "{name}__startswith={value}", .endsWith: "{name}__endswith={value}",
                .isNil: "{name}__isnull=true", .isNotNil: "{name}__isnull=false",
            ], inexact: Set<Parameter.Operator>.all.subtracting([.equal]), identifier: "id", pathSeparator: "__", isInexactForText: true)
        style.sorting = SortStyle("ordering", sortsTextInOrder: false)
        style.paging = .following(.body("next"), of: 100, total: .body("count"), stability: .offsets)
        style.calls = [.list(filters: [], sorting: []), .one("{path}{SELF}/")]
        style.saving = SavingStyle(
            update: .init(.patch, "{path}{SELF}/"), delete: .init(.delete, "{path}{SELF}/"), conflicts: .byReading, answer: .resource(""))
        style.errors = ErrorStyle(messages: ["detail"], isByField: true)
        return style
    }()

    /// GitHub's REST API: pages by the header `Link`, 100 each, versions by `ETag`. Its paths and parameters differ from call to call:
    /// describe them. Written from the public manual, untried against the service itself.
    ///
    /// Source: https://docs.github.com/en/rest
    public static let gitHub: ServiceStyle = {
        var style = ServiceStyle()
        style.names = .snakeCase
        style.references = .object(id: "id")
        style.filters = FilterStyle(.parameters, [.equal: "{name}={value}"])
        style.sorting = SortStyle("sort", descending: nil, maximumKeys: 1, sortsTextInOrder: false, direction: .init("direction"))
        style.paging = .following(.link("next"), size: "per_page", of: 100, stability: .offsets)
        style.calls = [.list(filters: [], sorting: []), .one]
        style.saving = SavingStyle(conflicts: .byReading, answer: .resource(""))
        style.errors = ErrorStyle(messages: ["message"], list: "errors", pointer: "field", detail: "message")
        style.accept = "application/vnd.github+json"
        style.contentType = "application/json"
        return style
    }()

    /// CouchDB: the address of a database, whose documents name their entity in `type`. A model and an address suffice. Written from the public manual,
    /// untried against a server.
    ///
    /// CouchDB sorts and compares strings by the rules of ICU, and orders need an index of the database, so both are done in memory.
    ///
    /// Source: https://docs.couchdb.org/en/stable/api/database/find.html
    public static let couchDB: ServiceStyle = {
        var style = ServiceStyle()
        style.collection = CollectionStyle("", isPlural: false, typeIsEntity: true)
        style.identity = ["_id"]
        style.omitsNil = true
        style.version = .tag("_rev")
        style.hasListsAtOneEnd = true
        style.envelope = Envelope(items: "docs", type: "type")
        style.filters = FilterStyle(
            .selector(.init(.body("selector"), constants: "{\"type\": \"{type}\"}")),
            [
                .equal: "$eq", .notEqual: "{\"$nin\": [{value}, null], \"$exists\": true}", .lessThan: "$lt", .lessThanOrEqual: "$lte",
                .greaterThan: "$gt",
                .greaterThanOrEqual: "$gte", .isIn: "$in", .beginsWith: "{\"$regex\": \"^{text}\"}", .contains: "{\"$regex\": {pattern}}",
            ],
            maximumValues: 200,
            inexact: [.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual, .beginsWith, .contains],
            identifier: "_id", comparesTextInOrder: false,
            listTemplates: [.equal: "{\"$elemMatch\": {\"$eq\": {value}}}", .isIn: "{\"$elemMatch\": {\"$in\": {values}}}"])
        style.paging = PagingStyle(
            .cursor("bookmark"), sizeParameter: "limit", size: 200, next: .body("bookmark"), stability: .cursors, endsShort: true,
            isInBody: true)
        style.calls = [WebCall("find", .post, path: "_find", sorting: []), .one("{SELF}")]
        style.saving = SavingStyle(
            create: .init(.post, ""), createIdentified: .init(.put, "{SELF}"), update: .init(.put, "{SELF}"),
            delete: .init(.delete, "{SELF}"), replacesWholeResources: true, precondition: .field, constants: ["type": "\"{type}\""],
            batch: .documents(path: "_bulk_docs", list: "docs", deleted: "_deleted"), receipt: .init(id: "id", version: "rev"))
        style.errors = ErrorStyle(messages: ["reason", "error"])
        style.changeFeed = .couchDB(path: "_changes")
        return style
    }()

    /// Parse Platform's REST API: the address of the server, such as `https://example.com/parse`, and classes named after the entities. A
    /// model and an address suffice, with the application's ID as a header. Written from the public manual, untried against a server.
    ///
    /// Source: https://docs.parseplatform.org/rest/guide/
    public static let parse: ServiceStyle = {
        var style = ServiceStyle()
        style.collection = CollectionStyle("classes/{name}", names: .asTheyAre, isPlural: false, typeIsEntity: true)
        style.identity = ["objectId"]
        style.omitsNil = true
        style.version = .tag("updatedAt")
        style.references = .pointer(id: "objectId", constants: ["__type": "Pointer", "className": "{type}"])
        style.hasListsAtOneEnd = true
        style.dateWrapping = .init("iso", constants: ["__type": "Date"])
        style.envelope = Envelope(items: "results")
        style.filters = FilterStyle(
            .selector(.init(.query("where"))),
            [
                .equal: "$eq", .notEqual: "$ne", .lessThan: "$lt", .lessThanOrEqual: "$lte", .greaterThan: "$gt",
                .greaterThanOrEqual: "$gte",
                .isIn: "$in", .isNil: "{\"$exists\": false}", .isNotNil: "{\"$exists\": true}",
                .beginsWith: "{\"$regex\": \"^{text}\"}", .contains: "{\"$regex\": {pattern}}",
            ], maximumValues: 100, inexact: [.notEqual, .beginsWith, .contains], identifier: "objectId")
        style.sorting = SortStyle("order")
        style.paging = PagingStyle(.offset("skip"), sizeParameter: "limit", size: 100, total: .body("count"), totalParameter: "count=1")
        style.fields = FieldsStyle("keys={names}")
        style.saving = SavingStyle(
            update: .init(.put, "{path}/{SELF}"), conflicts: .byReading, removal: "{\"__op\": \"Delete\"}",
            batch: .requests(.init(path: "batch", answers: "", maximum: 50, status: nil, body: "success", error: "error")),
            // These answers have only the identifier and the times.
            answer: .assigned(""))
        style.errors = ErrorStyle(messages: ["error"])
        return style
    }()
}
