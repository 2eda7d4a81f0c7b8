internal import JSONReading
internal import RemoteStore
internal import WebTransport

extension FileForms {
    /// Returns the form of headers or parameters without secrets.
    static func publicValues(isHeader: Bool) -> FileForm<[String: String]> {
        let values = map(scalar)
        @Sendable func check(_ names: [String], _ context: FileContext) throws {
            let secret = names.sorted().first { isHeader ? WebRequest.isSecret(header: $0) : WebRequest.isSecret(queryItem: $0) }
            guard let secret else { return }
            throw context.at(secret).problem(
                "“\(secret)” has a secret in most services, and a secret never stands in a description.",
                next: "Describe it as authentication: \(isHeader ? "header" : "query"), with the name of an environment variable or a file."
            )
        }
        return FileForm(
            expected: values.expected, accepts: values.accepts,
            read: { value, context, _ in
                try check(value.object?.keys ?? [], context)
                return try values.read(value, context, nil)
            },
            write: { items, context, _ in
                try check(Array(items.keys), context)
                return try values.write(items, context, nil)
            }, schema: values.schema)
    }

    private static let textComparison = words(
        "comparison of strings",
        [
            ("exact", TextComparison.exact), ("caseInsensitive", .caseInsensitive), ("diacriticInsensitive", .diacriticInsensitive),
            ("caseAndDiacriticInsensitive", .caseAndDiacriticInsensitive),
        ])

    private static let parameter = FileForm<WebParameter>.object("parameter", WebParameter(keyPaths: [], templates: [:])) { keys in
        keys.key("for", \.keyPaths, oneOrMore(text), isRequired: true, "The key paths that it compares.")
        keys.optional("named", \.equalityName, text, "The name of the parameter for equality: short for equal: name={value}.")
        addComparisons(&keys, \.templates)
        // A template for equality that is the name alone is written as the name.
        keys.keys = keys.keys.map { key in
            guard key.name == "equal" else { return key }
            return FileKey(
                name: key.name, aliases: key.aliases, summary: key.summary, isRequired: false, read: key.read,
                write: { $0.equalityName == nil ? try key.write($0, $1, $2) : nil }, schema: key.schema)
        }
        keys.exclusive = [["named", "equal"], ["named", "=="]]
        keys.key("required", \.isRequired, flag, "Whether the call must be given it.")
        keys.key("maximumValues", \.maximumValues, integer(from: 1), "The number of values that it takes at once.")
        keys.key("text", \.text, textComparison, "How the service compares strings.")
        keys.key("exact", \.isExact, flag, "Whether exactly those resources are found that Core Data would find.")
    }

    /// Parameters: a list, or the name of a parameter for each property.
    private static let parameters = FileForm<[WebParameter]>.either(
        list(parameter),
        FileForm(
            expected: "an object of names by properties", accepts: { $0.object != nil },
            read: { value, context, _ in
                try members(value, context).map { WebParameter($0.key, named: try text.read($0.value, context.at($0.key), nil)) }
            }, write: { _, context, _ in throw context.unwritable("a list") },
            schema: { ["type": "object", "additionalProperties": text.schema(&$0)] }))

    private static let cost = FileForm<Endpoint.Cost>.object("cost", .init()) { keys in
        keys.key("request", \.request, number, "The cost of a request, whatever it brings.")
        keys.key("row", \.row, number, "The cost of each resource that it brings.")
        keys.key("expectedRows", \.expectedRows, integer(from: 0), "The number of resources to expect without any optional parameter.")
    }

    private static let shape = words("shape of answers", [("list", WebCall.Shape.list), ("one", .one), ("map", .map)])

    /// A call that reads: `list`, `one`, `{list: "bands/{band}/albums"}`, `{name: discography, path: …}`.
    static let call = FileForm<WebCall>.either(
        words("call", [("list", .list()), ("one", .one)]),
        .object("call", WebCall("", path: "")) { keys in
            keys.start("list", text, "The path of a call for a list.", make: { .list($0) }) { [$0.path] }
            keys.start("one", text, "The path of a call for one resource.", make: { .one($0) }) { [$0.path] }
            keys.key("name", \.name, text, isRequired: true, "The name, unique within the resource.")
            keys.key("method", \.method, method, "The method.")
            keys.key("path", \.path, text, isRequired: true, "The path after the service's address; {path} is the resource's.")
            keys.exclusive = [["list", "path"], ["one", "path"]]
            keys.key("query", \.query, publicValues(isHeader: false), "Parameters that are always sent.")
            keys.optional("body", \.body, json, "The body that is sent, as JSON.")
            keys.key("returns", \.returns, shape, "What is answered: list, one or map.")
            keys.optional("items", \.items, path, "The path to the resources in the answer.")
            keys.key("parameters", \.parameters, parameters, "Further parameters: {name: q}, or a list of objects.")
            keys.optional("filters", \.filters, list(text), "The properties that can be compared as the style's filters say.")
            keys.optional("sorting", \.sorting, list(text), "The properties that can be sorted by as the style says.")
            keys.optional("paging", \.paging, paging, base: { $0.style?.paging }, "The paging; as the style has it unless it is said.")
            keys.optional("properties", \.properties, set(text), "The properties that answers bring.")
            keys.key("includes", \.includes, list(text), "The relationships whose destinations come along.")
            keys.key("includesSubentities", \.includesSubentities, flag, "Whether answers include resources of subentities.")
            keys.optional("freshness", \.freshness, seconds, "For how long an answer stays valid, in seconds.")
            keys.key("cost", \.cost, cost, "What a request costs.")
        })

    private static let kinds = FileForm<WebResource.Kinds>.object("kinds", .init("", [:])) { keys in
        keys.key("path", \.path, path, isRequired: true, "The path to the value.")
        keys.key("entities", \.entities, map(text), isRequired: true, "The names of the entities, by values.")
    }

    private static let identifiers = words(
        "kind of identifiers", [("integer", WebResource.IdentifierKind.integer), ("string", .string), ("uuid", .uuid)])

    private static let unreadable = words("treatment of what cannot be read", Resource.UnreadablePolicy.allCases.map { ($0.rawValue, $0) })

    /// The resources of one entity: its name, or an object.
    static let resource = FileForm<WebResource>.either(
        text.map({ WebResource($0) }, { $0 == WebResource($0.entity) ? $0.entity : nil }).expecting("the name of an entity"),
        .object("resource", WebResource("")) { keys in
            keys.key("entity", \.entity, text, isRequired: true, "The name of the entity.")
            keys.optional("path", \.path, text, "The path of the collection, after the service's address.")
            keys.optional("type", \.type, text, "What the service calls the type of the resources.")
            keys.optional("identity", \.identity, oneOrMore(text), "The paths to the identifier in a resource.")
            keys.optional("identifier", \.identifier, identifiers, "The kind of a single identifier.")
            keys.optional("version", \.version, version, "Where the version is.")
            keys.key("properties", \.properties, map(property), "How properties are named and written: a path, or an object, for each.")
            keys.key("ignored", \.ignored, set(text), "The properties that no answer has and that are never sent.")
            keys.optional("kinds", \.kinds, kinds, "Which subentity a resource is of.")
            keys.optional("calls", \.calls, list(call), "The calls that read: [list, one, {name: …, path: …}].")
            keys.optional(
                "saving", \.saving, saving, base: { $0.style?.saving ?? SavingStyle() }, "How changes are saved, where the style differs.")
            keys.key("readOnly", \.isReadOnly, flag, "Whether nothing can be saved.")
            keys.key("unreadable", \.unreadable, unreadable, "What becomes of resources that cannot be read.")
        })

    /// The keys of a service.
    static let service: FileKeys<WebService> = {
        var keys = FileKeys(WebService.self)
        keys.context = { service, context in
            var context = context
            context.style = service.style
            return context
        }
        keys.begin = { present, service in if present.contains("resources") { service.includesAllEntities = false } }
        keys.key("address", \.address, address, isRequired: true, "The absolute address that all paths continue.")
        keys.key("style", \.style, style, "A convention, or what differs from one.")
        keys.key("headers", \.headers, publicValues(isHeader: true), "Headers of every request, without secrets.")
        keys.key("query", \.query, publicValues(isHeader: false), "Parameters of every request, without secrets.")
        keys.key("resources", \.resources, list(resource), "The resources; without this key, one of every entity of the model.")
        keys.key("allEntities", \.includesAllEntities, flag, "Whether entities without a description here have resources, too.")
        return keys
    }()

    /// An address without a password before the host.
    private static let address = FileForm<String>(
        expected: text.expected, accepts: text.accepts,
        read: { value, context, _ in try checked(try text.read(value, context, nil), context) },
        write: { address, context, _ in .string(try checked(address, context)) }, schema: text.schema)

    private static func checked(_ address: String, _ context: FileContext) throws -> String {
        guard ServicePlan.withoutCredentials(address) == address else {
            throw context.problem(
                "The address has a name or a password before the host, and a secret never stands in a description.",
                next: "Remove it, and describe authentication: {basic: {user: …, password: {environment: …}}}.")
        }
        return address
    }
}

extension WebParameter {
    /// The name of the parameter for equality, if its template is the usual one.
    fileprivate var equalityName: String? {
        get {
            guard let template = templates[.equal], template.hasSuffix("={value}") else { return nil }
            let name = String(template.dropLast(8))
            return name.contains { "{}=&".contains($0) } ? nil : name
        }
        set { templates[.equal] = newValue.map { $0 + "={value}" } }
    }
}
