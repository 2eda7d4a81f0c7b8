internal import Foundation
internal import ObjectGraph
internal import Predicates
internal import RemoteStore

/// Tries what one call claims.
struct CapabilityTrial {
    let backend: WebBackend
    let plan: ResourcePlan
    let call: CallPlan
    let sample: Int

    private typealias Finding = CapabilityFinding

    /// What was read.
    private struct Reading {
        var resources: [TrialResource] = []
        /// Whether it is everything.
        var isWhole = true
        var firstPageCount = 0
        var total: Int?
    }

    func findings() async throws -> [CapabilityFinding] {
        let base = try await read(request())
        var findings = paging(base)
        findings += await count(base)
        for parameter in call.endpoint.parameters where !parameter.isRequired {
            for comparison in parameter.operators.sorted(by: { $0.rawValue < $1.rawValue }) {
                if let finding = await filter(parameter, comparison, base) { findings.append(finding) }
            }
        }
        for key in call.endpoint.sorting.keys {
            for isAscending in key.isReversible ? [true, false] : [true] {
                if let finding = await order(key, isAscending, base) { findings.append(finding) }
            }
        }
        return findings
    }

    private func request() -> BackendRequest {
        BackendRequest(entity: plan.entity, endpoint: call.call.name, of: backend, model: backend.service.model)
    }

    private func finding(_ capability: Finding.Capability, _ asked: String, _ seen: String) -> Finding {
        Finding(capability: capability, entity: plan.entity, call: call.call.name, asked: asked, seen: seen)
    }

    /// Reads pages until the sample is full.
    private func read(_ request: BackendRequest, limit: Int? = nil) async throws -> Reading {
        var reading = Reading()
        var request = request
        var isFirst = true
        var visited: Set<PageToken> = []
        while true {
            let answer = try await backend.answer(request, plan, call)
            reading.resources += answer.trialResources
            if isFirst { (reading.firstPageCount, reading.total) = (answer.trialResources.count, answer.total) }
            isFirst = false
            guard let next = answer.next else { return reading }
            guard visited.insert(next).inserted, reading.resources.count < limit ?? sample else {
                reading.isWhole = false
                return reading
            }
            request.page = next
        }
    }

    // MARK: Pages and counts

    private func paging(_ base: Reading) -> [Finding] {
        var findings: [Finding] = []
        let unique = Set(base.resources.map(\.id)).count
        if unique < base.resources.count {
            findings.append(
                finding(
                    .paging, "all pages",
                    "\(base.resources.count - unique) of \(base.resources.count) resources came twice: pages are not what they are described as."
                ))
        }
        if let size = call.endpoint.paging.size, call.endpoint.paging.takesLimit, base.firstPageCount < size,
            !base.isWhole || base.resources.count > base.firstPageCount
        {
            findings.append(
                finding(
                    .paging, "\(size) resources a page",
                    "\(base.firstPageCount) came: the service has a smaller limit. Describe pages of \(base.firstPageCount)."))
        }
        if let total = base.total, base.isWhole, total > unique {
            findings.append(
                finding(.paging, "all pages", "\(unique) resources came, and the service tells of \(total): it ends its pages before."))
        }
        return findings
    }

    private func count(_ base: Reading) async -> [Finding] {
        guard call.endpoint.counts else { return [] }
        var request = request()
        request.wantsCount = true
        do {
            let total = try await backend.answer(request, plan, call).total ?? -1
            let unique = Set(base.resources.map(\.id)).count
            if base.isWhole ? total != unique : total < unique {
                return [finding(.count, "the number", "\(total), and \(unique)\(base.isWhole ? "" : " or more") resources came.")]
            }
            return []
        } catch { return [finding(.count, "the number", "It failed: \((error as NSError).localizedDescription)")] }
    }

    // MARK: Filters

    private func filter(_ parameter: Parameter, _ comparison: Parameter.Operator, _ base: Reading) async -> Finding? {
        guard let trial = FilterTrial(parameter, comparison, base.resources) else { return nil }
        var request = request()
        if call.endpoint.logic == .tree {
            request.predicate = trial.tree
        } else {
            request.add(parameter, comparison, trial.values, ids: trial.ids)
        }
        let found: Reading
        do { found = try await read(request) } catch {
            return finding(.filter, trial.text, "It failed: \((error as NSError).localizedDescription)")
        }
        let wrong = found.resources.filter { !trial.matches($0) }
        if parameter.isExact, let first = wrong.first {
            let isIgnored = found.resources.map(\.id) == base.resources.map(\.id)
            return finding(
                .filter, trial.text,
                isIgnored
                    ? "It is ignored: the same \(found.resources.count) resources came as without it."
                    : "\(wrong.count) resources came that do not match, the first is \(first.id).")
        }
        guard found.isWhole else { return nil }
        let ids = Set(found.resources.map(\.id))
        let missing = base.resources.filter { trial.matches($0) && !ids.contains($0.id) }
        if let first = missing.first {
            return finding(.filter, trial.text, "\(missing.count) resources are missing that match, the first is \(first.id).")
        }
        return nil
    }

    // MARK: Orders

    private func order(_ key: Sorting.Key, _ isAscending: Bool, _ base: Reading) async -> Finding? {
        var request = request()
        request.sort(key.keyPath, isAscending: isAscending)
        let text = key.keyPath + (isAscending ? "" : " descending")
        let found: Reading
        do { found = try await read(request) } catch {
            return finding(.order, text, "It failed: \((error as NSError).localizedDescription)")
        }
        for (left, right) in zip(found.resources, found.resources.dropFirst()) {
            guard let first = left.values[key.keyPath], let second = right.values[key.keyPath] else { continue }
            guard let order = TrialOrder.compare(first.value, second.value) else { continue }
            if isAscending ? order > 0 : order < 0 {
                return finding(
                    .order, text, "\(left.id) (\(first.value)) came before \(right.id) (\(second.value)).")
            }
        }
        return nil
    }
}

/// The order of values that Core Data has.
enum TrialOrder {
    /// Returns a negative number, zero or a positive one; nil for values without an order.
    static func compare(_ left: PropertyValue, _ right: PropertyValue) -> Int? {
        switch (left, right) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.string(let left), .string(let right)):
            return left == right ? 0 : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
        case (.date(let left), .date(let right)): return left == right ? 0 : left < right ? -1 : 1
        default:
            guard let left = left.doubleValue, let right = right.doubleValue else { return nil }
            return left == right ? 0 : left < right ? -1 : 1
        }
    }
}

/// A comparison whose outcome is known from a sample.
struct FilterTrial {
    let text: String
    let values: [PropertyValue]
    let ids: [ResourceID]
    let tree: PredicateTree
    private let keyPath: String
    private let isIdentity: Bool
    private let predicate: NSPredicate?

    /// Creates a trial; nil where the sample has no value for one.
    init?(_ parameter: Parameter, _ comparison: Parameter.Operator, _ sample: [TrialResource]) {
        guard let keyPath = parameter.keyPaths.first, !keyPath.contains("."), !keyPath.hasPrefix("ANY ") else { return nil }
        self.keyPath = keyPath
        let known =
            keyPath == "SELF" ? sample.map { ResourceValue.one(ResourceReference($0.id)) } : sample.compactMap { $0.values[keyPath] }
        let present = known.filter { !$0.isNull }
        isIdentity = present.contains { $0.id != nil }
        let needsValue = comparison != .isNil && comparison != .isNotNil
        guard !known.isEmpty, !needsValue || !present.isEmpty else { return nil }
        if isIdentity {
            guard [.equal, .notEqual, .isIn].contains(comparison) else { return nil }
            let all = present.compactMap(\.id)
            var chosen = all.isEmpty ? [] : [all[all.count / 2]]
            if comparison == .isIn, let last = all.last, !chosen.contains(last) { chosen.append(last) }
            ids = chosen
            values = []
            predicate = nil
            text = "\(keyPath) \(comparison.rawValue) \(chosen.map(\.description).joined(separator: ", "))"
            let constants = chosen.map { id -> PropertyValue in
                switch id {
                case .integer(let number): .int64(number)
                case .uuid(let uuid): .uuid(uuid)
                default: .string(id.description)
                }
            }
            tree = .compare(
                keyPath == "SELF" ? .evaluatedObject : .keyPath([keyPath]),
                comparison == .isIn ? .isIn : comparison == .equal ? .equal : .notEqual,
                .constant(comparison == .isIn ? .array(constants) : constants.first ?? .null))
            return
        }
        ids = []
        let sorted = present.map(\.value).sorted { (TrialOrder.compare($0, $1) ?? 0) < 0 }
        var chosen = sorted.isEmpty ? [] : [sorted[sorted.count / 2]]
        if comparison == .isIn, let last = sorted.last, !chosen.contains(last) { chosen.append(last) }
        if !needsValue { chosen = [] }
        if [.beginsWith, .endsWith, .contains, .like].contains(comparison) {
            guard case .string(let text)? = chosen.first, text.count >= 2 else { return nil }
            let part: String =
                switch comparison {
                case .beginsWith: String(text.prefix(2))
                case .endsWith: String(text.suffix(2))
                case .contains: String(text.dropFirst().prefix(2))
                default: text.prefix(1) + "*"
                }
            guard !part.contains(where: { "?*\\".contains($0) }) || comparison == .like else { return nil }
            chosen = [.string(part)]
        }
        values = chosen
        let kind: PredicateComparison.Operator =
            switch comparison {
            case .equal, .isNil: .equal
            case .notEqual, .isNotNil: .notEqual
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqual
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqual
            case .isIn: .isIn
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .contains: .contains
            case .like: .like
            }
        let tree = PredicateTree.compare(
            .keyPath([keyPath]), kind, .constant(comparison == .isIn ? .array(chosen) : chosen.first ?? .null), options: parameter.text)
        self.tree = tree
        text = "\(tree)"
        predicate = NSPredicate(tree: tree)
    }

    /// Whether a resource should be found.
    func matches(_ resource: TrialResource) -> Bool {
        if isIdentity {
            let id = keyPath == "SELF" ? resource.id : resource.values[keyPath]?.id
            let isIn = id.map { ids.contains($0) } ?? false
            if case .comparison(let comparison) = tree, comparison.operator == .notEqual { return id != nil && !isIn }
            return isIn
        }
        guard let value = resource.values[keyPath]?.value else { return false }
        return predicate?.evaluate(with: [keyPath: value.any ?? NSNull()]) ?? false
    }
}
