internal import Foundation
internal import JSONReading
internal import RemoteStore

extension ItemReader {
    /// The result of reading a reference.
    enum FoundReference {
        case reference(ResourceReference)
        case none
        /// The answer has only the place of the reference: JSON:API's relationships without data.
        case absent
        case unreadable
    }

    func references(
        _ scanner: inout JSONScanner, _ reference: PropertyPlan.Reference
    ) throws -> (list: [ResourceReference], isComplete: Bool)? {
        var list: [ResourceReference] = []
        var isComplete = true
        if case .typed(let data, _, _) = reference.style, !data.isEmpty, try scanner.peek() == .object {
            guard let values = try scanner.readValue().value(at: data) else { return nil }
            guard let elements = values.array else { return values.isNull ? ([], true) : ([], false) }
            for element in elements {
                if let found = ReferenceReader(shapes: shapes).reference(element, reference, isInData: true) {
                    list.append(found)
                } else {
                    isComplete = false
                }
            }
            return (list, isComplete)
        }
        switch try scanner.peek() {
        case .array:
            try scanner.beginArray()
            while try scanner.nextElement() {
                if case .reference(let found) = try self.reference(&scanner, reference) { list.append(found) } else { isComplete = false }
            }
        case .null: try scanner.readNull()
        default:
            try scanner.skipValue()
            isComplete = false
        }
        return (list, isComplete)
    }

    func reference(_ scanner: inout JSONScanner, _ reference: PropertyPlan.Reference) throws -> FoundReference {
        let destination = shapes[reference.entity]
        let kind = try scanner.peek()
        switch reference.style {
        case .identifier, .object:
            if kind == .object, let destination {
                return try readEmbedded(&scanner, destination, isWhole: reference.isWhole).map { .reference($0) } ?? .unreadable
            }
            guard kind != .object else { fallthrough }
            return try identifier(&scanner, shapes.destination(reference.entity)?.plan.referenceKind).map {
                .reference(ResourceReference($0))
            } ?? .unreadable
        case .typed, .link, .pointer:
            let value = try scanner.readValue()
            if case .typed(let data, _, _) = reference.style, !data.isEmpty {
                guard let inner = value.value(at: data) else { return .absent }
                if inner.isNull { return .none }
            }
            return ReferenceReader(shapes: shapes).reference(value, reference).map { .reference($0) } ?? .unreadable
        }
    }
}
