import Foundation
internal import PropertyLists

extension ArchiveReader {
    /// Reads the constant at an index: a property value or a collection of them.
    func constant(_ index: Int) throws -> PropertyValue {
        guard archive.objects.indices.contains(index) else {
            throw PredicateArchive.unreadable("The archive refers to an object that is not there")
        }
        try spend(1)
        switch archive.list.nodes[archive.objects[index]] {
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .int64(number)
        case .unsigned(let number): return .decimal(Decimal(number))
        case .real(let number): return .double(number)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let data): return .data(data)
        // The first object of an archive is `$null`.
        case .string(let text): return index == 0 ? .null : .string(try checked(text))
        case .null, .uid, .array: throw PredicateArchive.unreadable("The archive holds a constant of an unknown kind")
        case .dictionary: return try nested(index) { try constant($0) }
        }
    }

    private func constant(_ object: KeyedArchive.Object) throws -> PropertyValue {
        let value: PropertyValue? =
            switch object.className {
            case "NSNull": .null
            case "NSString", "NSMutableString": try archive.text(of: object.index).map { .string(try checked($0)) }
            case "NSData", "NSMutableData": (object.raw("NS.data") as? Data).map { .data($0) }
            case "NSDate": object.date.map { .date($0) }
            case "NSUUID": object.uuid.map { .uuid($0) }
            case "NSURL": try url(object).map { .url($0) }
            case "NSDecimalNumber", "NSDecimalNumberPlaceholder": object.decimal.map { .decimal($0) }
            case "NSArray", "NSMutableArray": try list(object).map { .array($0) }
            case "NSOrderedSet", "NSMutableOrderedSet": try list(object).map { .array($0) }
            case "NSSet", "NSMutableSet": try list(object).map { .set(Set($0)) }
            default: throw PredicateArchive.unreadable("The archive holds a constant of class \(object.className)")
            }
        guard let value else {
            throw PredicateArchive.unreadable("The archive holds an object of class \(object.className) that cannot be read")
        }
        return value
    }

    private func url(_ object: KeyedArchive.Object) throws -> URL? {
        guard let text = object.reference("NS.relative").flatMap(archive.text) else { return nil }
        guard let base = object.reference("NS.base") else { return URL(string: try checked(text)) }
        guard case .url(let base) = try constant(base) else { return nil }
        return URL(string: try checked(text), relativeTo: base)
    }

    private func list(_ object: KeyedArchive.Object) throws -> [PropertyValue]? {
        if let elements = object.references("NS.objects") { return try elements.map(constant) }
        // Ordered sets, and sets of Foundation on Linux, have a field for each element.
        guard object.className.hasSuffix("Set") else { return nil }
        var values: [PropertyValue] = []
        while let element = object.reference("NS.object.\(values.count)") { values.append(try constant(element)) }
        return values
    }
}
