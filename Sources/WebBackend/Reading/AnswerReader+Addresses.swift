internal import Predicates
internal import RemoteStore
internal import WebTransport

/// Checks whether the address of a later page keeps the filters.
extension AnswerReader {
    /// Checks the resources of a page whose address comes from an answer and lacks the parameters of the filters.
    ///
    /// Most such addresses have a token that stands for the filters. If the service has lost the filters, the page has resources that do not match.
    ///
    /// - Throws: Code 134070, with the parameters and a resource that does not match.
    func checkFilters(_ answer: BackendAnswer, _ request: BackendRequest) throws {
        guard case .address = call.paging.form, let page = request.page, !request.filters.isEmpty else { return }
        let lost = try filterNames(request).subtracting(Self.names(page.text))
        if lost.isEmpty { return }
        let filters = request.filters.filter { $0.comparison == .equal || $0.comparison == .isIn }
        for resource in answer.trialResources {
            guard let filter = filters.first(where: { contradicts($0, resource) }) else { continue }
            throw WebBackendError.answer(
                request.description,
                "The address of the page, which the page before has named, has no “\(lost.sorted().joined(separator: "”, “"))”, and the resource "
                    + "\(resource.id) has another value of “\(filter.keyPath)” than was asked for.",
                next:
                    "Leave “\(filter.keyPath)” out of the filters of the call: then it is compared in memory. Or describe pages by a number."
            )
        }
    }

    /// Returns the names of the parameters that the filters of a request produce.
    private func filterNames(_ request: BackendRequest) throws -> Set<String> {
        let builder = RequestBuilder(service)
        var (first, plain) = (request, request)
        (first.page, plain.page, plain.filters, plain.predicate) = (nil, nil, [], nil)
        return try Self.names(builder.request(first, plan, call).url).subtracting(Self.names(builder.request(plain, plan, call).url))
    }

    /// Returns the names of the parameters of an address.
    private static func names(_ address: String) -> Set<String> {
        guard let start = address.firstIndex(of: "?") else { return [] }
        return Set(
            address[address.index(after: start)...].split(separator: "&").compactMap { $0.split(separator: "=").first.map(String.init) })
    }

    /// Returns whether the value of a resource contradicts a filter.
    private func contradicts(_ filter: BackendRequest.Filter, _ resource: TrialResource) -> Bool {
        switch resource.values[filter.keyPath] {
        case .value(let value)?:
            // An inexact comparison is repeated in memory.
            if case .string = value, plan.style.filters.isInexactForText || plan.style.filters.inexact.contains(filter.comparison) {
                return false
            }
            return filter.values.isEmpty ? filter.ids.isEmpty && value != .null : filter.values.allSatisfy { Self.differ(value, $0) }
        case .one(let reference)?:
            guard let reference else { return !filter.ids.isEmpty }
            return !filter.ids.contains(reference.id)
        case .many?, nil: return false
        }
    }

    private static func differ(_ value: PropertyValue, _ asked: PropertyValue) -> Bool {
        switch (value, asked) {
        case (.null, .null): false
        case (.null, _): true
        case (.string, .string), (.bool, .bool), (.int64, .int64), (.uuid, .uuid): value != asked
        // Values of other types may be written less precisely than they are.
        default: false
        }
    }
}
