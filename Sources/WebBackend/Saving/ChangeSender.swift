internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

/// Sends changes of one resource to the service.
struct ChangeSender {
    let service: ServicePlan
    let shapes: ItemShapes
    let plan: ResourcePlan
    let saving: SavingStyle
    let send: @Sendable (WebRequest) async throws -> WebResponse
    let words: ServiceWords
    private let builder: RequestBuilder
    let bodies: BodyWriter
    let values: ResourceValues

    init(
        _ service: ServicePlan, _ shapes: ItemShapes, _ plan: ResourcePlan, _ saving: SavingStyle,
        words: ServiceWords, send: @escaping @Sendable (WebRequest) async throws -> WebResponse
    ) {
        self.service = service
        self.shapes = shapes
        self.plan = plan
        self.saving = saving
        self.send = send
        self.words = words
        builder = RequestBuilder(service)
        bodies = BodyWriter(plan, saving, service)
        values = ResourceValues(service: service.plans, shapes: shapes)
    }

    typealias Outcomes = [BackendChange.Key: BackendOutcome]

    /// Saves changes of one kind.
    func save(_ changes: [BackendChange]) async throws -> Outcomes {
        if changes.count > 1 {
            switch saving.batch {
            case .requests(let batch)?: return try await BatchSender(sender: self, batch: batch).save(changes)
            case .documents(let path, let list, let deleted)?:
                return try await DocumentSender(sender: self, path: path, list: list, deleted: deleted).save(changes)
            case nil: break
            }
        }
        var outcomes: Outcomes = [:]
        for change in changes { outcomes[change.key] = try await save(change) }
        return outcomes
    }

    private func save(_ change: BackendChange) async throws -> BackendOutcome? {
        let (sent, outcomes) = try await prepared([change]) { try request($0, current: $1) }
        guard let one = sent.first else { return outcomes[change.key] }
        do { return await outcome(try await send(one.value), one.change, one.value, over: one.current) } catch {
            return Self.outcome(error)
        }
    }

    /// Returns the outcome of a change from its answer. If the answer leaves it open, the resource is read.
    ///
    /// - Parameter current: The service's resource, if the change was written over it.
    func outcome(
        _ response: WebResponse, _ change: BackendChange, _ request: WebRequest, over current: JSONValue?
    ) async -> BackendOutcome {
        let told = await toldApart(outcome(response, change, request), change)
        return merged(await checked(told, response, change, request), change, current)
    }

    /// Adds the unchanged values of the current resource to the outcome of a change that sent the resource, or an object within it, as a whole.
    private func merged(_ outcome: BackendOutcome, _ change: BackendChange, _ current: JSONValue?) -> BackendOutcome {
        let holders = bodies.holders(of: change)
        guard change.kind == .update, saving.replacesWholeResources || !holders.isEmpty, let current,
            case .saved(let id, let version, var told) = outcome
        else { return outcome }
        for (name, value) in values.values(current, of: change.entity, plan) where !change.changedProperties.contains(name) {
            if told[name] != nil { continue }
            if let known = change.values[name] {
                if known != value { told[name] = value }
            } else if let holder = plan.properties[name]?.holder, holders.contains(holder) {
                told[name] = value
            }
        }
        return .saved(id: id, version: version, values: told)
    }

    /// Returns the outcome of a change, without false conflicts: a service that refuses the current weak tag of a resource cannot compare weak tags.
    func toldApart(_ outcome: BackendOutcome, _ change: BackendChange) async -> BackendOutcome {
        guard case .conflict = outcome, case .tag(let tag)? = change.version, Self.isWeak(tag), await isCurrent(change) else {
            return outcome
        }
        return .refused(
            WebBackendError.unwritable(
                "\(change.kind)", plan.entity,
                "The service refuses the weak tag \(tag) that it has issued itself, and that the resource still has.",
                next: "Describe the saving with precondition: none, so that the store compares by reading."))
    }

    /// Returns whether the service still has the base version of a change; false if a read does not tell.
    private func isCurrent(_ change: BackendChange) async -> Bool {
        guard case .resource(_, let version)? = await reading(change) else { return false }
        return version == change.version
    }

    /// Returns whether a tag is weak: it says that two resources are equivalent, and not that they are identical.
    static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/\"") }

    /// Prepares the value to send for each change.
    ///
    /// - Parameters:
    ///   - hasFields: Whether a deletion is sent with the fields of the resource.
    ///   - make: Receives the change, and the service's current resource if the change can only be written over that.
    /// - Returns: The values in order, with the current resources, and the outcomes of changes that cannot be sent.
    func prepared<Value>(
        _ changes: [BackendChange], deletionsHaveFields hasFields: Bool = false, _ make: (BackendChange, JSONValue?) throws -> Value
    ) async throws -> (sent: [(change: BackendChange, value: Value, current: JSONValue?)], outcomes: Outcomes) {
        var sent: [(change: BackendChange, value: Value, current: JSONValue?)] = []
        var outcomes: Outcomes = [:]
        for change in changes {
            var current: JSONValue?
            var change = change
            let lacksVersion = lacksVersion(change)
            let isUntold = change.kind == .delete && !hasFields && plan.comparesBeforeDeleting
            if lacksVersion || isUntold || bodies.needsCurrent(change) {
                switch try await self.current(change) {
                case .resource(let json, let version):
                    current = json
                    if lacksVersion { change.version = version }
                case .outcome(let outcome):
                    outcomes[change.key] = outcome
                    continue
                }
            }
            do { sent.append((change, try make(change, current), current)) } catch { outcomes[change.key] = .refused(error) }
        }
        return (sent, outcomes)
    }

    /// Returns whether the version for a promised precondition is unknown, because the resource came in a list without versions.
    private func lacksVersion(_ change: BackendChange) -> Bool {
        change.kind != .insert && change.version == nil && saving.precondition != .none && plan.version != .none
    }

    /// Returns the outcome of a request without an answer.
    static func outcome(_ error: any Error) -> BackendOutcome {
        // Redirects of changes keep the method, so the redirecting server has not made the change.
        if let error = error as? TransportError, !error.mayHaveArrived || error.kind == .redirected { return .refused(error) }
        return .unknown(error)
    }

    // MARK: Requests

    /// Returns the request of a change.
    ///
    /// - Throws: Code 134070 for values that cannot be sent, and for a kind of change that the description lacks.
    func request(_ change: BackendChange, current: JSONValue?) throws -> WebRequest {
        guard let action = action(change) else {
            throw WebBackendError.unwritable("\(change.kind)", plan.entity, "The description has no request for this kind of change.")
        }
        let label = "\(plan.entity).\(change.kind)"
        let path = try Template(
            action.path.replacing("{path}", with: plan.collection).replacing("{type}", with: plan.type)
        ).filled { place in
            let text = try self.text(place, change)
            guard let component = PercentEncoding.component(text) else { throw WebBackendError.path(text, label) }
            return component
        }
        var query = action.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if change.kind == .delete, plan.namesRevision, case .tag(let tag)? = change.version { query.append(("rev", tag)) }
        query += builder.commonQuery
        let hasBody = change.kind != .delete
        var headers = builder.headers(plan, hasBody: hasBody)
        if case .ifMatch = saving.precondition, change.kind != .insert, let version = change.version {
            let text = Self.text(version)
            headers["If-Match"] = Self.isWeak(text) ? text : "\"\(text)\""
        }
        if change.kind == .insert, change.id != nil, saving.createsIfNoneMatch { headers["If-None-Match"] = "*" }
        if let name = saving.idempotencyHeader { headers[name] = change.idempotencyKey.uuidString.lowercased() }
        // Not as a conditional expression: there, nil would become JSON's null, and a deletion would have a body.
        var body: JSONValue?
        if hasBody { body = try bodies.body(try bodies.resource(change, current: current), change.id) }
        return WebRequest(
            action.method, service.address + (path.hasPrefix("/") ? "" : "/") + path + RequestBuilder.encoded(query, after: path),
            headers: headers, body: try body?.serialized(),
            isIdempotent: saving.idempotencyHeader != nil || (change.kind != .insert && action.method != .post && change.version == nil),
            label: label)
    }

    func action(_ change: BackendChange) -> SavingStyle.Action? {
        switch change.kind {
        case .insert: change.id == nil ? saving.create : saving.createIdentified ?? saving.create
        case .update: saving.update
        case .delete: saving.delete
        }
    }

    private func text(_ place: String, _ change: BackendChange) throws -> String {
        let values = bodies.values
        if CallPlan.keyPath(place) == "SELF" {
            return change.id.map { values.text($0, part: Int(place.split(separator: ".").last ?? "")) } ?? ""
        }
        switch change.values[place] {
        case .value(let value)?: return ValueWriter.text(try values.json(value, plan.properties[place], of: plan.entity), .bare)
        case .one(let reference?)?: return values.text(reference.id)
        default: return ""
        }
    }

    static func text(_ version: ResourceVersion) -> String {
        switch version {
        case .number(let number): "\(number)"
        case .tag(let tag): tag
        }
    }

    // MARK: Answers

    /// Returns the outcome that the answer to a change tells.
    func outcome(_ response: WebResponse, _ change: BackendChange, _ request: WebRequest) -> BackendOutcome {
        let errors = ErrorReader(plan: plan, words: words)
        // The origin of a page, and the effect of the request before it, are unknown.
        if let error = errors.stray(response, to: request, isSave: true) {
            return response.refusesCredentials() ? .refused(error) : .unknown(error)
        }
        switch response.status {
        case 200..<300:
            // Some services answer with a success status, and put the error into the body.
            let (isFailure, isMissing) = errors.failure(response)
            if isMissing, change.kind != .insert {
                return change.kind == .delete && change.version == nil ? .saved() : .conflict(current: nil)
            }
            if isFailure { return .refused(errors.error(response, to: request, isSave: true)) }
            return answers(to: request).outcome(response, to: words.name(request), change, action(change)?.answer ?? saving.answer)
        case 404 where change.kind != .insert, 410 where change.kind != .insert:
            // A deletion has a version if it must detect changes by others. Without one, a missing resource counts as deleted.
            return change.kind == .delete && change.version == nil ? .saved() : .conflict(current: nil)
        case 412: return conflict(response, change)
        // If the service assigns the identifier of a new resource, the status leaves nothing to compare.
        case 409 where change.kind == .insert ? change.id != nil && saving.createIdentified != nil : saving.precondition == .field:
            return conflict(response, change)
        // The answer refers to another resource, which may tell the outcome. Other redirects that are not followed have changed nothing.
        case 300, 302..<307, 408, 500, 502, 504: return .unknown(errors.error(response, to: request, isSave: true))
        default: return .refused(errors.error(response, to: request, isSave: true))
        }
    }

    /// Returns the reader of answers to a request.
    func answers(to request: WebRequest) -> SaveAnswerReader {
        SaveAnswerReader(plan: plan, saving: saving, values: values, shapes: shapes) { [words] in words.clean($0, request) }
    }

    private func conflict(_ response: WebResponse, _ change: BackendChange) -> BackendOutcome {
        guard let path = saving.current, let body = try? JSONValue(parsing: response.body), let item = body.value(at: path),
            item.object != nil
        else { return .conflict(current: [:]) }
        return .conflict(current: values.values(item, of: change.entity, plan), version: values.version(item, plan))
    }

    // MARK: Reading

    /// The result of a read.
    enum Reading {
        case resource(JSONValue, ResourceVersion?)
        case missing
        case failed(any Error)
    }

    /// Reads the resource of a change; nil if the description has no call for that.
    ///
    /// - Parameter told: The identifier of a new resource, if an answer tells it.
    func reading(_ change: BackendChange, under told: ResourceID? = nil) async -> Reading? {
        guard let id = change.id ?? told, let call = plan.callByIdentifier else { return nil }
        do { return try await read(id, by: call) } catch { return .failed(error) }
    }

    /// Reads a resource.
    ///
    /// - Throws: Code 134060 for an identifier that the call cannot have, and for an answer that is not JSON.
    private func read(_ id: ResourceID, by call: CallPlan) async throws -> Reading {
        let request = try builder.request(reading: id, plan, call)
        let response: WebResponse
        do { response = try await send(request) } catch { return .failed(error) }
        let errors = ErrorReader(plan: plan, words: words)
        if let error = errors.stray(response, to: request, isSave: true) { return .failed(error) }
        guard response.status < 300 else {
            if response.status == 404 || response.status == 410 { return .missing }
            return .failed(errors.error(response, to: request, isSave: true))
        }
        let body = try JSONValue(parsing: response.body)
        guard let item = body.value(at: call.call.items ?? plan.style.envelope.item), item.object != nil else {
            return .failed(WebBackendError.answer(request.label, "It is no resource."))
        }
        return .resource(item, values.version(item, plan) ?? response.headers["ETag"].map { .tag(AnswerReader.opaque($0)) })
    }

    /// The service's current resource, or the outcome of a change that cannot be made over it.
    private enum Current {
        case resource(JSONValue, ResourceVersion?)
        case outcome(BackendOutcome)
    }

    /// Reads the service's resource for a change. The outcome is a conflict if its version is not the base of the change.
    private func current(_ change: BackendChange) async throws -> Current {
        guard let id = change.id,
            let call = plan.callByIdentifier
        else {
            return .outcome(
                .refused(
                    WebBackendError.unwritable(
                        "\(change.kind)", plan.entity,
                        "The resource has to be read before it is changed, and the description has no call that reads one by its identifier.",
                        next: "Describe such a call: calls: [one].")))
        }
        let (item, version): (JSONValue, ResourceVersion?)
        switch try await read(id, by: call) {
        case .resource(let found, let told): (item, version) = (found, told)
        case .missing: return .outcome(change.kind == .delete ? .saved() : .conflict(current: nil))
        case .failed(let error): return .outcome(.refused(error))
        }
        let isOther: Bool
        if let known = change.version {
            isOther = plan.version != .none && version.map { $0 != known } ?? false
        } else if lacksVersion(change) {
            guard version != nil else {
                return .outcome(
                    .refused(
                        WebBackendError.unwritable(
                            "\(change.kind)", plan.entity,
                            "The description promises a precondition, and the service tells no version of the resource, also not by “\(call.call.name)”.",
                            next: "Describe where the version stands, or the saving with precondition: none.")))
            }
            let current = values.values(item, of: change.entity, plan)
            func isThere(_ name: String) -> Bool { current[name].flatMap { change.values[name]?.isAlike($0) } ?? false }
            // An attempt whose answer was lost, or another client, has made it. Sent again, it would be a different request with the same idempotency key.
            if change.kind == .update, change.lists.isEmpty, change.changedProperties.allSatisfy(isThere) {
                return .outcome(.saved(version: version, values: current.filter { change.values[$0.key] != $0.value }))
            }
            // The base version is unknown, so the values of the base are compared. A part of the change may have been made already.
            isOther = change.base.contains { name, base in current[name].map { !$0.isAlike(base) && !isThere(name) } ?? false }
        } else {
            isOther = false
        }
        if isOther { return .outcome(.conflict(current: values.values(item, of: change.entity, plan), version: version)) }
        return .resource(item, version)
    }

    /// Returns the resource of a change, for a request with several resources.
    func resource(_ change: BackendChange, current: JSONValue?) throws -> JSONValue { try bodies.resource(change, current: current) }

    /// Returns an identifier as JSON.
    func json(_ id: ResourceID) -> JSONValue { bodies.values.json(id, plan.identifier) }
}
