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
        // What is accepted for later is not there yet.
        if response.status == 202 { return outcome }
        let errors = ErrorReader(plan: plan, words: words)
        let speaks = errors.speaks(response)
        let unread: UnreadAnswer?
        switch outcome {
        case .saved(_, let version, let told):
            let hasBody = response.body.contains { $0 > 0x20 }
            let tellsNothing = told.isEmpty && (version == nil || !hasBody && version == change.version)
            let isDoubtful = speaks || change.kind == .update && change.version != nil
            guard change.kind != .insert, tellsNothing, isDoubtful else { return outcome }
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
            guard unread == nil, plan.version != .none, version != nil else { return outcome }
            return .saved(version: version, values: found.filter { change.values[$0.key] != $0.value })
        case .missing?: return change.kind == .insert && speaks ? .refused(errors.untaken(response, to: request, [])) : outcome
        case .failed?, nil:
            if speaks, errors.isDescribed { return .refused(errors.untaken(response, to: request, [])) }
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
