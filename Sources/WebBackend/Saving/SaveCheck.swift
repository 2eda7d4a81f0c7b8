internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

/// Determines the outcome of a change by reading the resource, if its answer does not tell.
extension ChangeSender {
    /// Returns the outcome of a change after a read, if the answer has neither values nor the needed version, or is not a resource.
    ///
    /// A value that is still the old one was not accepted, even if the answer reports success. A value that the service has changed in its own way was
    /// accepted.
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
            // Without a body, only the new version after a `PUT` means that everything was accepted as it was sent (RFC 9110, 9.3.4).
            let tellsNothing = told.isEmpty && (version == nil || !hasBody && (version == change.version || request.method != .put))
            // A body whose content is not described tells nothing, either.
            let isUnread = (action(change)?.answer ?? saving.answer) == .nothing
            let isDoubtful = speaks || change.kind == .update && (change.version != nil || !hasBody || isUnread)
            // The answer has an old value at the old version: the value was not accepted, or a replica that lags behind has answered.
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
            // The version in the answer is not newer than that of the read.
            guard unread == nil, plan.version == .none || version ?? newVersion != nil else { return outcome }
            return .saved(version: version ?? newVersion, values: found.filter { change.values[$0.key] != $0.value })
        case .missing?: return change.kind == .insert && speaks ? .refused(errors.untaken(response, to: request, [])) : outcome
        case .failed?, nil:
            if isAsBefore || speaks && errors.isDescribed { return .refused(errors.untaken(response, to: request, [])) }
            // A later read tells whether it was accepted.
            if let unread, change.kind == .update, plan.callByIdentifier != nil { return .unknown(unread.cause) }
            return outcome
        }
    }

    /// Returns the properties of a change that still have their old values, in a resource that still has the base version.
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

/// Determines the outcome of promised and redirected changes: their answers do not tell, so the resource is read.
extension ChangeSender {
    /// Returns whether an answer without a description is an object without the identifier of the changed resource: a part of the resource, or a
    /// message.
    private func isNameless(_ response: WebResponse, _ change: BackendChange) -> Bool {
        guard change.kind == .update, action(change)?.answer ?? saving.answer == nil, saving.receipt == nil,
            !plan.identity.contains(where: { $0.hasPrefix("@") }), let body = try? JSONValue(parsing: response.body)
        else { return false }
        let item = body.value(at: saving.item)
        return values.identifier(item?.object == nil ? body : item ?? body, plan) == nil
    }

    /// Returns the values of such an object that the resource confirms: the texts of a message may look like values.
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

    /// Returns whether a resource has all values that were sent.
    private func isMade(_ change: BackendChange, _ found: [String: ResourceValue]) -> Bool {
        let values = change.values.filter { change.kind == .insert || change.changedProperties.contains($0.key) }
        return values.allSatisfy { name, sent in found[name]?.isAlike(sent) ?? sent.isNull }
            && change.lists.allSatisfy { name, list in
                guard case .many(let members)? = found[name] else { return true }
                let there = Set(members.map(\.id))
                return list.added.allSatisfy { there.contains($0.id) } && !list.removed.contains { there.contains($0.id) }
            }
    }

    /// Returns the outcome of a change that was accepted for later (202). Its answer may be the resource or a pending job, so none of its values is
    /// used.
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

    /// Returns the outcome of a change that was answered with another address (300, 302, 303), which may lead to the outcome.
    private func redirected(
        _ outcome: BackendOutcome, _ response: WebResponse, _ change: BackendChange, _ request: WebRequest
    ) async -> BackendOutcome {
        guard case .unknown(let error) = outcome else { return outcome }
        var told: ResourceID?
        if let location = response.headers["Location"], let address = service.absolute(location, from: request.url) {
            // A resource below the list that the request was sent to.
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

    /// Reads the resource of a change; nil if the read does not confirm the change.
    ///
    /// - Parameter told: The identifier of a new resource, if an answer tells it.
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
    /// The answer to a change. A redirect that was followed with a `GET` remains the redirect, unless it led to a login page.
    var ofChange: WebResponse {
        guard let status = turnedToGet, !refusesCredentials() else { return self }
        var headers: WebHeaders = [:]
        if let redirectedTo { headers["Location"] = redirectedTo }
        return WebResponse(status: status, headers: headers)
    }
}
