/// The identities of objects that came together. They are row numbers if all belong to one table, so that no IDs need be created.
struct IdentityList {
    private enum Content {
        case ids([NSManagedObjectID])
        case numbers([Int64], RowOrigin)
    }
    private let content: Content

    /// Creates the list; objects without IDs get them if needed.
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

    /// The keys of the objects in identity maps.
    var keys: [Int64] {
        switch content {
        case .ids(let ids): ids.map(\.key)
        case .numbers(let numbers, let origin): numbers.map(origin.key)
        }
    }

    /// Returns the registered objects of a part.
    func objects(_ part: Range<Int>, in registry: ObjectRegistry) -> [NSManagedObject] {
        switch content {
        case .ids(let ids): registry.objects(with: Array(ids[part])).compactMap { $0 }
        case .numbers(let numbers, let origin): registry.objects(with: numbers[part], of: origin).compactMap { $0 }
        }
    }

    /// Returns whether a registered object of the list satisfies `condition`.
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
