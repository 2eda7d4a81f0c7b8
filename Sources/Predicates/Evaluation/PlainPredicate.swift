import Foundation

extension CompiledPredicate {
    /// Answers whether a plain value matches: a dictionary, an object, a structure, text or a number.
    ///
    /// The predicate was compiled for ``PlainSchema/shared``.
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

    /// The subject; there are no slots, and nothing reads them.
    var subject: PredicateSubject {
        PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), object: self)
    }
}

/// The schema of things about which nothing is known beforehand.
final class PlainSchema: PredicateSchema, Sendable {
    /// It has no state, so one serves all.
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
