internal import Foundation
internal import ObjectGraph
internal import WebTransport

/// A service's description, checked against the model.
final class ServicePlan: Sendable {
    let service: WebService
    let model: NSManagedObjectModel
    /// The address, without a slash at its end.
    let address: String
    /// The scheme, host and port of the address. Credentials and next pages stay within it.
    let origin: String
    /// The path of the address, without a slash at its end.
    let basePath: String
    let plans: [String: ResourcePlan]
    /// The plans of entities without one of their own: those of the entities that they inherit from.
    let inherited: [String: ResourcePlan]

    /// Checks a description.
    ///
    /// - Throws: Code 134080 naming entity and property, for a description that does not fit the model.
    init(_ service: WebService, _ model: NSManagedObjectModel) throws {
        try model.freeze()
        self.service = service
        self.model = model
        var address = service.address
        while address.hasSuffix("/") { address.removeLast() }
        guard let components = URLComponents(string: address), let scheme = components.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = components.host, !host.isEmpty
        else {
            throw WebBackendError.description(
                "the address “\(Self.withoutCredentials(service.address))”", "It is not the absolute address of a web service.",
                next: "Write it with http:// or https://, and a host.")
        }
        guard components.user == nil, components.password == nil, components.query == nil, components.fragment == nil else {
            throw WebBackendError.description(
                "the address “\(Self.withoutCredentials(service.address))”", "It contains credentials, parameters or a fragment.",
                next: "Give credentials as authentication:, and parameters as query:.")
        }
        try StyleChecks(service.style).run()
        for (name, value) in service.headers {
            if name.lowercased() == "content-type" { try MediaTypes.check(value, "the header “\(name)”", "Bodies") }
            if name.lowercased() == "accept" { try MediaTypes.check(value, "the header “\(name)”", "Answers") }
            try Self.check(name, value, service.style)
        }
        if let signals = service.style.changeSignals {
            guard service.style.changeFeed != nil else {
                throw WebBackendError.description(
                    "“changeSignals”", "There is no feed of changes to be asked when a signal comes.", next: "Describe the changeFeed.")
            }
            if case .serverSentEvents(let path, _, _) = signals, path.isEmpty || path.contains("://") {
                throw WebBackendError.description(
                    "“changeSignals”", "“\(Self.withoutCredentials(path))” is no path behind the address of the service.",
                    next: "Write it without scheme and host.")
            }
        }
        self.address = address
        basePath = components.percentEncodedPath
        origin = String(address.dropLast(basePath.count)).lowercased()

        var plans: [String: ResourcePlan] = [:]
        for resource in service.resources {
            guard let entity = model.entitiesByName[resource.entity] else {
                throw WebBackendError.description(
                    "“\(resource.entity)”", "The model has no such entity.",
                    next: "Its entities are: \(model.entitiesByName.keys.sorted().joined(separator: ", ")).")
            }
            guard plans[resource.entity] == nil else {
                throw WebBackendError.description("“\(resource.entity)”", "It is described twice.", next: "Describe each entity once.")
            }
            plans[resource.entity] = try ResourcePlan(resource, entity, service)
        }
        if service.includesAllEntities {
            for (name, entity) in model.entitiesByName where plans[name] == nil && entity.superentity == nil {
                plans[name] = try ResourcePlan(WebResource(name), entity, service)
            }
        }
        for plan in plans.values { try Self.check(plan, model, plans) }
        self.plans = plans
        var inherited: [String: ResourcePlan] = [:]
        for (name, entity) in model.entitiesByName where plans[name] == nil {
            var owner = entity.superentity
            while let known = owner, plans[known.name ?? ""] == nil { owner = known.superentity }
            if let plan = owner.flatMap({ plans[$0.name ?? ""] }) { inherited[name] = plan }
        }
        self.inherited = inherited
        try checkLists()
    }

    /// Checks that no header for every request replaces one of the style's.
    private static func check(_ name: String, _ value: String, _ style: ServiceStyle) throws {
        let said: (key: String, value: String)? =
            switch name.lowercased() {
            case "accept": style.accept == ServiceStyle.plain.accept ? nil : ("accept", style.accept)
            case "content-type": style.contentType.map { ("contentType", $0) }
            default:
                style.saving?.idempotencyHeader.flatMap { $0.lowercased() == name.lowercased() ? ("saving.idempotencyHeader", $0) : nil }
            }
        guard let said, said.value != value else { return }
        throw WebBackendError.description(
            "the header “\(name)”", "It is sent as “\(value)”, and the style says “\(said.value)” by “\(said.key)”.",
            next: "Write it there, and remove the header.")
    }

    /// Returns the plan of an entity, or of the one that it inherits from.
    func plan(of entity: String) -> ResourcePlan? { plans[entity] ?? inherited[entity] }

    private static func check(_ plan: ResourcePlan, _ model: NSManagedObjectModel, _ plans: [String: ResourcePlan]) throws {
        for (value, name) in (plan.kinds?.entities ?? [:]).sorted(by: { $0.key < $1.key }) {
            var entity = model.entitiesByName[name]
            while let known = entity, known.name != plan.entity { entity = known.superentity }
            guard entity != nil else {
                throw WebBackendError.description(
                    "the kind “\(value)” of “\(plan.entity)”", "“\(name)” is neither this entity nor a subentity of it.",
                    next: "Name one that is.")
            }
        }
        if let saving = plan.saving { try check(saving, plan) }
        if case .attribute(let name)? = plan.saving?.identity, plan.properties[name]?.isAttribute != true {
            throw WebBackendError.description(
                "“\(plan.entity)”", "New resources are identified by “\(name)”, which is no attribute of the entity.",
                next: "Name an attribute.")
        }
    }

    /// Checks the description of answers to changes.
    private static func check(_ saving: SavingStyle, _ plan: ResourcePlan) throws {
        let place = "the saving of “\(plan.entity)”"
        if saving.answer != nil, saving.receipt != nil {
            throw WebBackendError.description(place, "It has an answer and a receipt.", next: "Describe one of them.")
        }
        for (action, isNew) in [(saving.create, true), (saving.createIdentified, true), (saving.update, false)] {
            guard let action, let answer = action.answer ?? saving.answer else { continue }
            if case .nothing = answer, isNew, saving.identity == .assignedByService {
                throw WebBackendError.description(
                    place, "The service assigns identifiers, and its answers to new resources have nothing.",
                    next:
                        "Say where the answer has the identifier, as answer: resource:data or answer: location, or let the store make it: newUUID."
                )
            }
            guard case .location(let template?) = answer else { continue }
            let places = Template(template).places
            let wanted = plan.identity.count == 1 ? ["SELF"] : plan.identity.indices.map { "SELF.\($0)" }
            if places != wanted {
                throw WebBackendError.description(
                    place, "“\(template)” does not say where the header “Location” has the identifier.",
                    next: "Write \(wanted.map { "{\($0)}" }.joined(separator: " and ")) in its place.")
            }
        }
    }

    /// Returns an address without a user and password.
    static func withoutCredentials(_ address: String) -> String {
        guard let scheme = address.range(of: "://") else { return address }
        let rest = address[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return address }
        return String(address[..<scheme.upperBound]) + rest[rest.index(after: at)...]
    }

    /// Returns the address of a path after the service's address. The path may lead out of that: `../../batch`.
    func address(_ path: String) -> String {
        var base = address
        var rest = path[...]
        while rest.hasPrefix("../"), let slash = base.lastIndex(of: "/"), slash >= base.index(base.startIndex, offsetBy: origin.count) {
            rest = rest.dropFirst(3)
            base = String(base[..<slash])
        }
        return base + (rest.isEmpty || rest.hasPrefix("/") ? "" : "/") + rest
    }

    /// Returns the absolute form of an address in an answer; nil for one outside of the service's origin.
    func absolute(_ text: String, from request: String) -> String? {
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            return text.lowercased().hasPrefix(origin + "/") || text.lowercased().hasPrefix(origin + "?") || text.lowercased() == origin
                ? text : nil
        }
        if text.hasPrefix("//") { return nil }
        if text.hasPrefix("/") { return origin + text }
        let base = request.prefix { $0 != "?" }
        if text.hasPrefix("?") { return String(base) + text }
        guard let slash = base.lastIndex(of: "/"), !text.contains("://") else { return nil }
        return String(base[...slash]) + text
    }
}
