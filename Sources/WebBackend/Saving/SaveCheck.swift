internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

/// Tells what has become of a change whose answer does not: by reading the resource.
extension ChangeSender {
    /// Returns the outcome of a change with what a read says, where the answer has neither values nor the version that is needed, or is no resource.
    ///
    /// A value that is still the one of before was not taken, whatever the answer says of success. One that the service has changed in its own way was.
    func checked(
        _ outcome: BackendOutcome, _ response: WebResponse, _ change: BackendChange, _ request: WebRequest
    ) async -> BackendOutcome {
        let errors = ErrorReader(plan: plan, words: words)
        switch response.status {
        case 202: return await soughtLater(outcome, change, request)
        case 300..<400: return await redirected(outcome, response, change, request)
        default: break
        }
        let speaks = errors.speaks(response)
        let unread: UnreadAnswer?
        var isAsBefore = false
        var newVersion: ResourceVersion?
        switch outcome {
        case .saved(let id, let version, let told):
            newVersion = version
            if !told.isEmpty, isNameless(response, change) { return .saved(id: id, version: version, values: await verified(told, change)) }
            let hasBody = response.body.contains { $0 > 0x20 }
            // Without a body, only the version that a `PUT` has made says that everything was taken as it was sent (RFC 9110, 9.3.4).
            let tellsNothing = told.isEmpty && (version == nil || !hasBody && (version == change.version || request.method != .put))
            // A body that the description says nothing of tells nothing, either.
            let isUnread = (action(change)?.answer ?? saving.answer) == .nothing
            let isDoubtful = speaks || change.kind == .update && (change.version != nil || !hasBody || isUnread)
            // The answer itself has a value of before, in the version of before: it was not taken, or a copy of the service that lags has answered.
            isAsBefore = change.kind == .update && !untaken(of: change, told, version ?? change.version).isEmpty
            guard change.kind != .insert, isAsBefore || tellsNothing && isDoubtful else { return outcome }
            unread = nil
        case .unknown(let error as UnreadAnswer): unread = error
        default: return outcome
        }
        switch await reading(change) {
        case .resource(let item, let version)?:
            if change.kind == .delete { return .refused(errors.untaken(response, to: request, [])) }
            guard change.kind == .update else { return outcome }
            let found = values.values(item, of: change.entity, plan)
            let names = untaken(of: change, found, version)
            if !names.isEmpty { return .refused(errors.untaken(response, to: request, names)) }
            // The version that the answer told is at most that of the read.
            guard unread == nil, plan.version == .none || version ?? newVersion != nil else { return outcome }
            return .saved(version: version ?? newVersion, values: found.filter { change.values[$0.key] != $0.value })
        case .missing?: return change.kind == .insert && speaks ? .refused(errors.untaken(response, to: request, [])) : outcome
        case .failed?, nil:
            if isAsBefore || speaks && errors.isDescribed { return .refused(errors.untaken(response, to: request, [])) }
            // Whether it was taken, a later read says.
            if let unread, change.kind == .update, plan.callByIdentifier != nil { return .unknown(unread.cause) }
            return outcome
        }
    }

    /// Returns the properties of a change that are still as before, in a resource that is still of the version that it was made on.
    private func untaken(of change: BackendChange, _ found: [String: ResourceValue], _ version: ResourceVersion?) -> [String] {
        if let known = change.version, let version, known != version { return [] }
        let values = change.values.filter { name, sent in
            guard change.changedProperties.contains(name), let base = change.base[name], let value = found[name] else { return false }
            return !value.isAlike(sent) && value.isAlike(base)
        }
        let lists = change.lists.filter { name, list in
            guard case .many(let members)? = found[name], !list.added.isEmpty || !list.removed.isEmpty else { return false }
            let there = Set(members.map(\.id))
            return !list.added.contains { there.contains($0.id) } && list.removed.allSatisfy { there.contains($0.id) }
        }
        return (Array(values.keys) + Array(lists.keys)).sorted()
    }
}

/// What promises a change, or leads elsewhere, is no answer to it: a read tells.
extension ChangeSender {
    /// Whether an answer that nothing is described of has an object without the identifier of the changed resource: a part of that, or a message.
    private func isNameless(_ response: WebResponse, _ change: BackendChange) -> Bool {
        guard change.kind == .update, action(change)?.answer ?? saving.answer == nil, saving.receipt == nil,
            !plan.identity.contains(where: { $0.hasPrefix("@") }), let body = try? JSONValue(parsing: response.body)
        else { return false }
        let item = body.value(at: saving.item)
        return values.identifier(item?.object == nil ? body : item ?? body, plan) == nil
    }

    /// Returns values that such an object tells, as the resource has them: a message may have words where that has values.
    private func verified(_ told: [String: ResourceValue], _ change: BackendChange) async -> [String: ResourceValue] {
        guard case .resource(let item, _)? = await reading(change) else { return told }
        let found = values.values(item, of: change.entity, plan)
        var verified: [String: ResourceValue] = [:]
        for (name, value) in told {
            guard let there = found[name], !there.isAlike(value) else {
                verified[name] = value
                continue
            }
            if !change.changedProperties.contains(name) { verified[name] = there }
        }
        return verified
    }

    /// Whether a resource has everything that was sent.
    private func isMade(_ change: BackendChange, _ found: [String: ResourceValue]) -> Bool {
        let values = change.values.filter { change.kind == .insert || change.changedProperties.contains($0.key) }
        return values.allSatisfy { name, sent in found[name]?.isAlike(sent) ?? sent.isNull }
            && change.lists.allSatisfy { name, list in
                guard case .many(let members)? = found[name] else { return true }
                let there = Set(members.map(\.id))
                return list.added.allSatisfy { there.contains($0.id) } && !list.removed.contains { there.contains($0.id) }
            }
    }

    /// Returns the outcome of a change that was accepted for later (202). Its answer may have the resource, or a job that is to make it: nothing of it is taken.
    private func soughtLater(_ outcome: BackendOutcome, _ change: BackendChange, _ request: WebRequest) async -> BackendOutcome {
        var told: ResourceID?
        switch outcome {
        case .saved(let id, _, _): told = id
        case .unknown(is UnreadAnswer): break
        default: return outcome
        }
        let promise = BackendOutcome.unknown(UnreadAnswer(WebBackendError.later(words.name(request)), isLater: true))
        return await found(change, under: told) ?? promise
    }

    /// Returns the outcome of a change that was answered with the address of something else (300, 302, 303), which may say what has become of it.
    private func redirected(
        _ outcome: BackendOutcome, _ response: WebResponse, _ change: BackendChange, _ request: WebRequest
    ) async -> BackendOutcome {
        guard case .unknown(let error) = outcome else { return outcome }
        var told: ResourceID?
        if let location = response.headers["Location"], let address = service.absolute(location, from: request.url) {
            // A resource below the list that it was sent to.
            let list = request.url.prefix { $0 != "?" }
            let rest = address.hasPrefix(list + "/") ? address.dropFirst(list.count + 1) : ""
            if !rest.isEmpty, !rest.contains("/") { told = answers(to: request).identifier(in: address, nil) }
        }
        if let made = await found(change, under: told) { return made }
        guard change.kind != .insert, plan.callByIdentifier != nil else { return outcome }
        let known = error as NSError
        return .refused(
            NSError(domain: known.domain, code: known.code, userInfo: known.userInfo.merging(UnseenChange.info) { first, _ in first }))
    }

    /// Reads the resource of a change; nil where a read does not show that it was made.
    ///
    /// - Parameter told: The identifier of a new resource, as far as an answer tells it.
    private func found(_ change: BackendChange, under told: ResourceID?) async -> BackendOutcome? {
        switch await reading(change, under: told) {
        case .resource(let item, let version)? where change.kind != .delete:
            let found = values.values(item, of: change.entity, plan)
            guard isMade(change, found) else { return nil }
            return .saved(id: change.id == nil ? told : nil, version: version, values: found.filter { change.values[$0.key] != $0.value })
        case .missing? where change.kind == .delete: return .saved()
        case .resource?, .missing?, .failed?, nil: return nil
        }
    }
}

extension WebResponse {
    /// The answer to a change. A redirect that has made a `GET` of it stays the redirect, unless what was found there is a page for signing in.
    var ofChange: WebResponse {
        guard let status = turnedToGet, !refusesCredentials() else { return self }
        var headers: WebHeaders = [:]
        if let redirectedTo { headers["Location"] = redirectedTo }
        return WebResponse(status: status, headers: headers)
    }
}
