internal import Foundation
internal import Platform
internal import Predicates

/// The placeholder values of recording objects.
enum PlaceholderValues: CaseIterable {
    case first
    case second
    case nothing

    /// Creates a recording object of an entity, without a context, with a placeholder for every attribute.
    func object(of entity: NSEntityDescription, _ objectClass: NSManagedObject.Type) -> NSManagedObject {
        let object = objectClass.init(entity: entity, insertInto: nil)
        let layout = entity.frozen!.layout
        let row = Row.blank(layout)
        for property in entity.frozen!.properties {
            guard let attribute = property as? NSAttributeDescription, let value = value(of: attribute.attributeType),
                let stored = AttributeCheck.conform(value, to: attribute)
            else { continue }
            row.store(stored, in: layout.slots[attribute.slotIndex])
        }
        object.row = row
        return object
    }

    /// Returns a value that rounding, trimming, case folding or clamping would change; nil for the nil placeholder.
    private func value(of type: NSAttributeType) -> Any? {
        // This type has no zero for nil: it always gets a value.
        if type == .URIAttributeType { return URL(string: self == .second ? "b:/Y?z" : "A:/x?y#Z") }
        if self == .nothing { return nil }
        let isFirst = self == .first
        return switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: isFirst ? -12345 : 23456
        case .booleanAttributeType: isFirst
        case .doubleAttributeType, .floatAttributeType: isFirst ? -1234.375 : 4321.625
        case .decimalAttributeType: Decimal(isFirst ? -123 : 457) / 8
        case .stringAttributeType: isFirst ? " é/Zq 9b " : "\taB7-Ω/c "
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: isFirst ? -98765.4375 : 876543210.8125)
        case .binaryDataAttributeType: Data(isFirst ? [7, 1, 200] : [3, 0, 9, 255])
        case .UUIDAttributeType: UUID(uuid: (isFirst ? 1 : 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        default: nil
        }
    }

    /// Returns whether values of the attribute type can be compared with their placeholders.
    static func isComparable(_ type: NSAttributeType) -> Bool {
        switch type {
        case .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: false
        default: true
        }
    }

    /// Returns whether a value is the one that a missing value is read as.
    static func isZero(_ value: PropertyValue) -> Bool {
        switch value {
        case .null, .int64(0), .double(0), .string(""), .date(Date(timeIntervalSinceReferenceDate: 0)): true
        case .decimal(let number): number.isZero
        case .data(let data): data.isEmpty
        case .uuid(let identifier): identifier == UUID.storedNil
        default: false
        }
    }
}

/// Copies of loaded models whose objects record their reads.
final class RecordingModels: Sendable {
    static let shared = RecordingModels()
    private let copies = LockedBox<[(model: Weak, copy: NSManagedObjectModel)]>([])
    private struct Weak { weak var model: NSManagedObjectModel? }

    /// Returns the recording copy of a loaded model's entity.
    func recordingCopy(of entity: NSEntityDescription) throws -> NSEntityDescription {
        guard let model = entity.managedObjectModel, let name = entity.name, let copy = try recordingCopy(of: model).entitiesByName[name]
        else {
            throw InvalidPredicateError(kind: .unknownKeyPath, message: "The model of the entity “\(entity)” exists no more")
        }
        return copy
    }

    private func recordingCopy(of model: NSManagedObjectModel) throws -> NSManagedObjectModel {
        if let known = copies.withLock({ $0.first { $0.model.model === model } }) { return known.copy }
        // Made and released without the lock: model and descriptions may be subclasses of the program.
        let made = model.copy() as! NSManagedObjectModel
        try made.freeze()
        for entity in made.entities {
            entity.frozen!.layout.recordsReads = true
            entity.keyEntries = nil
        }
        var old: [(model: Weak, copy: NSManagedObjectModel)] = []
        let copy = copies.withLock { copies in
            old = copies
            copies.removeAll { $0.model.model == nil }
            if let known = copies.first(where: { $0.model.model === model }) { return known.copy }
            copies.append((Weak(model: model), made))
            return made
        }
        withExtendedLifetime(old) {}
        return copy
    }
}
