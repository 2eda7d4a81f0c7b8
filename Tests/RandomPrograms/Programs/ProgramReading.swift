package import CoreData

extension ProgramSide {
    /// What a context shows, and its objects by label.
    package static func read(_ context: NSManagedObjectContext) throws -> (NaiveGraph, [Int: NSManagedObject]) {
        var graph = NaiveGraph()
        let objects = try objects(in: context)
        for (label, object) in objects {
            let kind = ProgramModel.Kind(rawValue: object.entity.name!)!
            var node = NaiveGraph.Node(kind: kind, values: [:])
            for attribute in ProgramModel.attributes(of: kind) {
                let value = object.value(forKey: attribute)
                node.values[attribute] = attribute == "name" ? (value as? String).flatMap { Int($0.dropFirst()) } : value as? Int
            }
            for relationship in ProgramModel.relationships(of: kind) {
                // A child sees no more of what its parent is about to delete than that it is there.
                let found = Self.labels(object.value(forKey: relationship.name)).filter { context.parent == nil || $0 >= 0 }
                if !found.isEmpty { node.links[relationship.name] = relationship.isOrdered ? found : found.sorted() }
            }
            graph.nodes[label] = node
        }
        return (graph, objects)
    }

    private static func labels(_ value: Any?) -> [Int] {
        switch value {
        case let object as NSManagedObject: label(object)
        case let set as Set<NSManagedObject>: set.flatMap(label)
        case let ordered as NSOrderedSet: ordered.array.flatMap { label($0 as! NSManagedObject) }
        default: []
        }
    }

    private static func label(_ object: NSManagedObject) -> [Int] { (object.value(forKey: "label") as? Int).map { [$0] } ?? [-1] }

    func objects() throws -> [Int: NSManagedObject] { try Self.objects(in: context) }

    private static func objects(in context: NSManagedObjectContext) throws -> [Int: NSManagedObject] {
        var objects: [Int: NSManagedObject] = [:]
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node")) {
            objects[object.value(forKey: "label") as? Int ?? -1] = object
        }
        return objects
    }

    /// What the context says of its changes, where it is not what it should be.
    func flagDifference(_ objects: [Int: NSManagedObject]) -> String? {
        for (label, object) in objects.sorted(by: { $0.key < $1.key }) {
            if object.isDeleted { return "\(label) is fetched and deleted" }
            let isNew = base.nodes[label] == nil
            if object.isInserted != isNew { return "isInserted of \(label) is \(object.isInserted)" }
            if isNew { continue }
            let changed = object.changedValues()
            let expected = working.changes(of: label, since: base)
            if Set(changed.keys) != expected {
                return "changedValues of \(label) is \(changed.keys.sorted()), expected \(expected.sorted())"
            }
            if object.isUpdated != touched.contains(label) { return "isUpdated of \(label) is \(object.isUpdated)" }
            if !expected.isEmpty, !object.isUpdated { return "\(label) is changed, and not updated" }
            for (key, value) in changed {
                guard let current = object.value(forKey: key) as? NSObject else { continue }
                if current != value as? NSObject { return "changedValues of \(label) has another \(key) than the object" }
            }
        }
        let doomed = Set(working.nodes.filter(\.value.isDoomed).keys)
        if context.deletedObjects.count != doomed.count {
            return "\(context.deletedObjects.count) deleted objects, expected \(doomed.sorted())"
        }
        let new = working.shown.nodes.keys.filter { base.nodes[$0] == nil }.count
        if context.insertedObjects.count != new { return "\(context.insertedObjects.count) inserted objects, expected \(new)" }
        return nil
    }

    /// A fetch with predicate, order, limit and offset, and one without what is pending.
    func fetchDifference(_ choices: inout Choices) throws -> String? {
        let bound = choices.next() % 7
        let kind = ProgramModel.Kind.allCases[choices.next() % 3]
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)
        request.predicate = NSPredicate(format: "number >= %d", bound)
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false), NSSortDescriptor(key: "label", ascending: true)]
        request.fetchLimit = choices.next() % 4
        request.fetchOffset = choices.next() % 3
        func expected(_ graph: NaiveGraph) -> [Int] {
            let labels = graph.living.filter { graph.nodes[$0]!.kind.isKind(of: kind) && graph.nodes[$0]!.values["number"] ?? 0 >= bound }
            let sorted = labels.sorted { (graph.nodes[$1]!.values["number"]!, $0) < (graph.nodes[$0]!.values["number"]!, $1) }
            let rest = Array(sorted.dropFirst(request.fetchOffset))
            return request.fetchLimit > 0 ? Array(rest.prefix(request.fetchLimit)) : rest
        }
        let found = try context.fetch(request).map { $0.value(forKey: "label") as? Int ?? -1 }
        if found != expected(working) { return "fetched \(kind) with number >= \(bound): \(found), expected \(expected(working))" }
        let count = try context.count(for: request)
        if count != found.count { return "counted \(count), fetched \(found.count)" }
        if parent != nil || isSuspended { return nil }
        request.includesPendingChanges = false
        let saved = try context.fetch(request).map { $0.value(forKey: "label") as? Int ?? -1 }
        return saved == expected(base) ? nil : "fetched without what is pending: \(saved), expected \(expected(base))"
    }
}
