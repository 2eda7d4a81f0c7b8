import Foundation

extension CompiledPredicate {
    /// Returns whether a plain value matches: a dictionary, an object, a structure, a string or a number.
    ///
    /// The predicate must be compiled for ``PlainSchema/shared``.
    func matches(plain value: Any?) throws -> Bool {
        let box = PlainValue(original: value, value: try PropertyValue(plain: value))
        return try withExtendedLifetime(box) { try matches(box.subject) }
    }
}

/// A plain value as a subject.
final class PlainValue {
    let original: Any?
    let value: PropertyValue

    init(original: Any?, value: PropertyValue) {
        self.original = original
        self.value = value
    }

    /// The subject, which has no slots.
    var subject: PredicateSubject {
        PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), object: self)
    }
}

/// The schema of values whose properties are known at run time only.
final class PlainSchema: PredicateSchema, Sendable {
    /// The shared instance; a schema without state.
    static let shared = PlainSchema()

    var schemaName: String { "A value" }

    func predicateProperty(named key: String) -> PredicateProperty? {
        .computed { subject in try PlainSchema.value(of: subject).value(forKey: key, clause: key) }
    }

    func identity(of subject: PredicateSubject) -> PropertyValue {
        PlainSchema.value(of: subject)
    }

    func constant(for object: AnyObject) -> PropertyValue? { nil }

    func publicObject(of subject: PredicateSubject) -> Any {
        (subject.object as? PlainValue)?.original ?? NSNull()
    }

    private static func value(of subject: PredicateSubject) -> PropertyValue {
        (subject.object as? PlainValue)?.value ?? .null
    }
}
