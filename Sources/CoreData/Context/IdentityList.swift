/// The identities of objects that came together: their numbers where all come from one table, so that no ID need be made for any.
struct IdentityList {
    private enum Content {
        case ids([NSManagedObjectID])
        case numbers([Int64], RowOrigin)
    }
    private let content: Content

    /// The identities of objects, which get IDs if they have none.
    init(_ objects: [NSManagedObject]) {
        if let origin = objects.first?.origin {
            var numbers: [Int64] = []
            numbers.reserveCapacity(objects.count)
            objects.forEachUncounted { if $0.origin === origin { numbers.append($0.number) } }
            if numbers.count == objects.count {
                content = .numbers(numbers, origin)
                return
            }
        }
        content = .ids(objects.mapUncounted { $0.identifier ?? $0.objectID })
    }

    var count: Int {
        switch content {
        case .ids(let ids): ids.count
        case .numbers(let numbers, _): numbers.count
        }
    }

    /// The keys under which identity maps file the objects.
    var keys: [Int64] {
        switch content {
        case .ids(let ids): ids.map(\.key)
        case .numbers(let numbers, let origin): numbers.map(origin.key)
        }
    }

    /// The objects of a part that are registered.
    func objects(_ part: Range<Int>, in registry: ObjectRegistry) -> [NSManagedObject] {
        switch content {
        case .ids(let ids): registry.objects(with: Array(ids[part])).compactMap { $0 }
        case .numbers(let numbers, let origin): registry.objects(with: numbers[part], of: origin).compactMap { $0 }
        }
    }

    /// Whether one of the objects is registered and is as `condition` says.
    func contains(in registry: ObjectRegistry, where condition: (NSManagedObject) -> Bool) -> Bool {
        var start = 0
        while start < count {
            let end = min(count, start + 64)
            if objects(start..<end, in: registry).contains(where: condition) { return true }
            start = end
        }
        return false
    }
}
