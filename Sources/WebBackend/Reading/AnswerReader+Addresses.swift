internal import Foundation
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
        guard case .address = call.paging.form, let page = request.page, !request.filters.isEmpty || !request.sorts.isEmpty
        else { return }
        let lost = try filterNames(request).subtracting(Self.names(page.text))
        if lost.isEmpty { return }
        let resources = answer.trialResources
        if let sort = request.sorts.first,
            let (before, after) = zip(resources, resources.dropFirst()).first(where: { isUnsorted($0, $1, sort) })
        {
            throw WebBackendError.answer(
                request.description,
                "The address of the page, which the page before has named, has no “\(lost.sorted().joined(separator: "”, “"))”, and the resources "
                    + "\(before.id) and \(after.id) are not in the order of “\(sort.keyPath)” that was asked for.",
                next: "Leave “\(sort.keyPath)” out of the sorting of the call: then it is sorted in memory. Or describe pages by a number.")
        }
        for resource in resources {
            guard let filter = request.filters.first(where: { !isInPath($0) && contradicts($0, resource) }) else { continue }
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
        // A filter with a place in the path is no parameter.
        plain.filters = plain.filters.filter(isInPath)
        (first.page, plain.page, plain.predicate, plain.sorts) = (nil, nil, nil, [])
        return try Self.names(builder.request(first, plan, call).url).subtracting(Self.names(builder.request(plain, plan, call).url))
    }

    /// Returns whether a filter has a place in the path of the call.
    private func isInPath(_ filter: BackendRequest.Filter) -> Bool { call.places.contains { CallPlan.keyPath($0) == filter.parameter } }

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
            switch filter.comparison {
            case .equal, .isIn:
                return filter.values.isEmpty ? filter.ids.isEmpty && value != .null : filter.values.allSatisfy { Self.differ(value, $0) }
            case .lessThan: return filter.values.first.flatMap { Self.isOrdered($0, value, orEqual: true) } ?? false
            case .lessThanOrEqual: return filter.values.first.flatMap { Self.isOrdered($0, value, orEqual: false) } ?? false
            case .greaterThan: return filter.values.first.flatMap { Self.isOrdered(value, $0, orEqual: true) } ?? false
            case .greaterThanOrEqual: return filter.values.first.flatMap { Self.isOrdered(value, $0, orEqual: false) } ?? false
            case .contains, .beginsWith, .endsWith:
                guard case .string(let text) = value, case .string(let part)? = filter.values.first else { return false }
                return !Self.folded(text).contains(Self.folded(part))
            default: return false
            }
        case .one(let reference)?:
            guard filter.comparison == .equal || filter.comparison == .isIn else { return false }
            guard let reference else { return !filter.ids.isEmpty }
            return !filter.ids.contains(reference.id)
        case .many?, nil: return false
        }
    }

    /// Whether two resources are in another order than a sort key asks for.
    private func isUnsorted(_ first: TrialResource, _ second: TrialResource, _ sort: BackendRequest.Sort) -> Bool {
        guard case .value(let first)? = first.values[sort.keyPath], case .value(let second)? = second.values[sort.keyPath] else {
            return false
        }
        // The order of texts is the service's.
        if case .string = first { return false }
        return (sort.isAscending ? Self.isOrdered(second, first, orEqual: false) : Self.isOrdered(first, second, orEqual: false)) ?? false
    }

    /// Whether a value is less than another one; nil for values that are not known to be comparable.
    private static func isOrdered(_ first: PropertyValue, _ second: PropertyValue, orEqual: Bool) -> Bool? {
        switch (first, second) {
        case (.int64(let first), .int64(let second)): first < second || orEqual && first == second
        case (.double(let first), .double(let second)): first < second || orEqual && first == second
        default: nil
        }
    }

    /// A text as services compare it that take no notice of case and accents.
    private static func folded(_ text: String) -> String { text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) }

    private static func differ(_ value: PropertyValue, _ asked: PropertyValue) -> Bool {
        switch (value, asked) {
        case (.null, .null): false
        case (.null, _): true
        case (.string(let value), .string(let asked)): folded(value) != folded(asked)
        case (.bool, .bool), (.int64, .int64), (.uuid, .uuid): value != asked
        // Values of other types may be written less precisely than they are.
        default: false
        }
    }
}
