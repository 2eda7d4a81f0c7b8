#if PostgreSQL
import CoreData
import PredicateCases
import Predicates

/// A request of any shape about the objects of ``QueryWorld``.
struct RandomFetch: CustomStringConvertible {
    enum Shape: String, CaseIterable {
        case objects, ids, count, dictionaries
        /// Dictionaries of which each comes once.
        case distinct
        /// One dictionary with what functions make of all objects.
        case totals
        /// One dictionary for each group, perhaps of some groups only.
        case groups
    }

    /// What is laid down of an answer.
    enum Certainty {
        case order, members
        /// Any of the objects that match, so many of them.
        case number
    }

    let shape: Shape
    let entity: String
    private(set) var predicate: PredicateTree?
    private(set) var includesSubentities = true
    private(set) var orders: [(key: String, ascending: Bool, text: TextOrder)] = []
    private(set) var limit = 0
    private(set) var offset = 0
    private(set) var batchSize = 0
    private(set) var prefetched: [String] = []
    private(set) var readsValues = false
    private(set) var areFaults = true
    /// The properties of dictionaries, and what is computed for them.
    private(set) var keys: [String] = []
    private(set) var made: [(name: String, expression: ExpressionTree)] = []
    private(set) var having: String?

    init(_ cases: inout QueryCases) {
        shape = cases.pick(Shape.allCases + [.objects, .objects, .dictionaries, .groups])
        entity = cases.pick(["Thing", "Thing", "Thing", "Place", "Special"])
        let scope = QueryCases.Scope(variable: nil, entity: entity == "Place" ? "Place" : "Thing")
        if !cases.chance(3) { predicate = cases.predicate([scope], depth: cases.chance(4) ? 1 : 0) }
        includesSubentities = !cases.chance(4)
        switch shape {
        case .objects, .ids: chooseObjects(&cases, scope)
        case .count: if cases.chance(2) { choosePage(&cases) }
        case .dictionaries, .distinct: chooseDictionaries(&cases, scope)
        case .totals: chooseFunctions(&cases)
        case .groups: chooseGroups(&cases)
        }
    }

    // MARK: Choosing

    private mutating func choosePage(_ cases: inout QueryCases) {
        if !cases.chance(3) { limit = Int.random(in: 1...12, using: &cases.random) }
        if !cases.chance(3) { offset = Int.random(in: 1...5, using: &cases.random) }
    }

    /// A path over relationships to one, to an attribute, or now and then to an object or a number of objects.
    private func key(_ cases: inout QueryCases, _ scope: QueryCases.Scope) -> String {
        if cases.chance(10) { return cases.pick(["one", "other", "many.@count", "more.@count"]) }
        let (keys, _) = cases.keysToOne(scope.entity)
        // The order and the equality of texts that are spelled in several ways is another one in SQL.
        let kinds = CaseKind.allCases.filter { $0 != .text || cases.world.ordersTexts }
        return (keys + [cases.pick(cases.world.attributes(of: scope.entity, [cases.pick(kinds)]))]).joined(separator: ".")
    }

    private mutating func chooseObjects(_ cases: inout QueryCases, _ scope: QueryCases.Scope) {
        if !cases.chance(4) {
            for _ in 0..<Int.random(in: 0...3, using: &cases.random) {
                // Other orders of texts than that of SQL are made in memory.
                let text: TextOrder = cases.chance(12) ? cases.pick([.caseInsensitive, .localized, .localizedStandard]) : .binary
                orders.append((key(&cases, scope), Bool.random(using: &cases.random), text))
            }
            // The label makes the order complete.
            orders.append(("label", Bool.random(using: &cases.random), .binary))
        }
        if cases.chance(2) { choosePage(&cases) }
        if shape == .ids { return }
        if cases.chance(4) { batchSize = Int.random(in: 1...7, using: &cases.random) }
        if cases.chance(3) {
            prefetched = Array(
                Set((0..<2).map { _ in cases.pick(["one", "other", "many", "more", "one.more", "other.many.one", "many.more"]) })
            ).sorted()
        }
        readsValues = cases.chance(3)
        areFaults = !cases.chance(4)
    }

    private mutating func chooseDictionaries(_ cases: inout QueryCases, _ scope: QueryCases.Scope) {
        keys = Set((0..<Int.random(in: 1...4, using: &cases.random)).map { _ in key(&cases, scope) }).sorted()
        if shape == .dictionaries {
            if cases.chance(2) {
                let expression = cases.value(scope, cases.pick(CaseKind.allCases), depth: 1)
                // A statistic would be taken over all rows.
                if !expression.description.contains(":(") { made = [("made", expression)] }
            }
            if cases.chance(4) { keys.append("objectID") }
            if !cases.chance(3) {
                orders = (0..<Int.random(in: 0...1, using: &cases.random)).map { _ in (key(&cases, scope), true, .binary) }
                orders.append(("label", Bool.random(using: &cases.random), .binary))
                if cases.chance(2) { choosePage(&cases) }
            }
        } else if cases.chance(2) {
            // Objects have no order of their own: every column tells dictionaries apart.
            keys.removeAll { ["one", "other"].contains($0.split(separator: ".").last ?? "") }
            if keys.isEmpty { keys = ["label"] }
            orders = keys.shuffled(using: &cases.random).map { ($0, Bool.random(using: &cases.random), .binary) }
            choosePage(&cases)
        }
    }

    private mutating func chooseFunctions(_ cases: inout QueryCases) {
        let attributes = ["number", "rank", "real", "amount", "label", "one.number", "flag"]
        let functions = ["sum:", "min:", "max:", "count:", "average:"] + (cases.chance(4) ? ["median:", "stddev:", "mode:"] : [])
        made = (0..<Int.random(in: 1...3, using: &cases.random)).map { index in
            if cases.chance(6) {
                return ("made\(index)", .function(cases.pick(["min:", "max:"]), [.path(cases.pick(["moment", "one.moment"]))]))
            }
            return ("made\(index)", .function(cases.pick(functions), [.path(cases.pick(attributes))]))
        }
    }

    private mutating func chooseGroups(_ cases: inout QueryCases) {
        let texts = cases.world.ordersTexts ? ["name", "text", "other.name"] : []
        keys = Set(
            (0..<Int.random(in: 1...2, using: &cases.random)).map { _ in
                cases.pick(["flag", "rank", "one", "one.rank", "moment", "other.flag", "key", "link", "amount"] + texts)
            }
        ).sorted()
        chooseFunctions(&cases)
        if cases.chance(2) {
            // Objects have no order of their own.
            keys.removeAll { $0 == "one" }
            if keys.isEmpty { keys = ["rank"] }
            // Sums of the same numbers in another order differ in their last digits.
            var first: [String] = []
            if case .function(let name, _) = made[0].expression, ["count:", "min:", "max:"].contains(name), cases.chance(2) {
                first = ["made0"]
            }
            orders = (first + keys.shuffled(using: &cases.random)).map { ($0, Bool.random(using: &cases.random), .binary) }
            if cases.chance(2) { choosePage(&cases) }
        }
        having = cases.pick([
            nil, nil, "count:(label) > 1", "count:(label) BETWEEN {2, 4} OR max:(rank) == 5", "$made0 != nil AND \(keys[0]) != nil",
            "max:(number) >= min:(rank)",
        ])
    }

    // MARK: Asking

    var certainty: Certainty { !orders.isEmpty || shape == .count ? .order : limit > 0 || offset > 0 ? .number : .members }

    private func request<Result>(_ type: Result.Type, _ resultType: NSFetchRequestResultType) -> NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>(entityName: entity)
        request.resultType = resultType
        request.predicate = predicate.map { NSPredicate(tree: $0) }
        request.includesSubentities = includesSubentities
        request.fetchLimit = limit
        request.fetchOffset = offset
        if !orders.isEmpty {
            request.sortDescriptors = orders.map { NSSortDescriptor(key: $0.key, ascending: $0.ascending, textOrder: $0.text) }
        }
        return request
    }

    /// What the request finds, as text, in the context on whose queue the caller is.
    func answer(in context: NSManagedObjectContext) throws -> [String] {
        let found: [String]
        switch shape {
        case .objects:
            let request = request(NSManagedObject.self, .managedObjectResultType)
            request.fetchBatchSize = batchSize
            request.relationshipKeyPathsForPrefetching = prefetched
            request.returnsObjectsAsFaults = areFaults
            found = try context.fetch(request).map(text)
        case .ids:
            let request = request(NSManagedObjectID.self, .managedObjectIDResultType)
            found = try context.fetch(request).map { "\($0.entity) \(Self.label(context.object(with: $0)))" }
        case .count:
            let counted = try context.fetch(request(NSNumber.self, .countResultType)).map(\.intValue)
            return ["\(counted), \(try context.count(for: request(NSManagedObject.self, .managedObjectResultType)))"]
        case .dictionaries, .distinct, .totals, .groups:
            let request = request(NSDictionary.self, .dictionaryResultType)
            request.propertiesToFetch =
                keys
                + made.map { name, expression in
                    let column = NSExpressionDescription()
                    column.name = name
                    column.expression = NSExpression(tree: expression)
                    return column
                }
            request.returnsDistinctResults = shape == .distinct
            if shape == .groups { request.propertiesToGroupBy = keys }
            request.havingPredicate = having.map { NSPredicate(format: $0) }
            found = try context.fetch(request).map { dictionary in
                dictionary.map { "\($0.key): \(Self.text($0.value, context))" }.sorted().joined(separator: ", ")
            }
        }
        switch certainty {
        case .order: return found
        case .members: return found.sorted()
        case .number: return ["\(Set(found).count) of \(found.count)"]
        }
    }

    private static func label(_ object: NSManagedObject) -> Int { object.value(forKey: "label") as? Int ?? -1 }

    private func text(_ object: NSManagedObject) -> String {
        var parts = ["\(object.entity) \(Self.label(object))"]
        let related = Set(
            prefetched.flatMap { $0.split(separator: ".").prefix(1).map(String.init) } + (prefetched.isEmpty ? [] : ["queue"]))
        for key in related.sorted() where object.entity.relationshipsByName[key] != nil {
            switch object.value(forKey: key) {
            case let one as NSManagedObject: parts.append("\(key) \(Self.label(one))")
            case let many as Set<NSManagedObject>: parts.append("\(key) \(many.map(Self.label).sorted())")
            case let list as NSOrderedSet: parts.append("\(key) \(list.array.compactMap { $0 as? NSManagedObject }.map(Self.label))")
            default: parts.append("no \(key)")
            }
        }
        if readsValues {
            for key in object.entity.attributesByName.keys.sorted() {
                if let value = object.value(forKey: key) { parts.append("\(key): \(Self.text(value, object.managedObjectContext))") }
            }
        }
        return parts.joined(separator: ", ")
    }

    private static func text(_ value: Any, _ context: NSManagedObjectContext?) -> String {
        switch value {
        case let id as NSManagedObjectID: "object \(context.map { label($0.object(with: id)) } ?? -1)"
        // Sums of the same numbers in another order differ in their last digits.
        case let number as NSNumber: "number " + String(format: "%.12g", number.doubleValue)
        case let data as Data: "data \(Array(data))"
        default: "\(type(of: value)) \(value)"
        }
    }

    // MARK: Shown

    var description: String {
        var parts = ["\(shape.rawValue) of \(entity)"]
        if !keys.isEmpty { parts.append("\(keys)") }
        parts += made.map { "\($0.name) = \($0.expression)" }
        if let predicate { parts.append("where \(predicate)") }
        if let having { parts.append("having \(having)") }
        if !includesSubentities { parts.append("without subentities") }
        if !orders.isEmpty {
            parts.append("by \(orders.map { "\($0.key) \($0.ascending ? "up" : "down")\($0.text == .binary ? "" : " \($0.text)")" })")
        }
        if limit > 0 || offset > 0 { parts.append("\(offset)+\(limit)") }
        if batchSize > 0 { parts.append("in batches of \(batchSize)") }
        if !prefetched.isEmpty { parts.append("with \(prefetched)") }
        return parts.joined(separator: ", ")
    }
}
#endif
