internal import ObjectGraph
internal import RemoteStore

/// The facts about a property that are known before any request: its type, and its place and form in the service.
struct PropertyPlan: Sendable {
    /// The kinds of properties.
    enum Kind: Sendable {
        case attribute(NSAttributeType, ValueTransform)
        case toOne(Reference)
        case toMany(Reference, isOrdered: Bool, isWhole: Bool)
        /// An attribute with parts of its own, each at its own place.
        case composite([PropertyPlan])
    }

    /// The form of references, and their destination.
    struct Reference: Sendable {
        let entity: String
        let hasSubentities: Bool
        let style: ReferenceStyle
        /// Whether included objects are complete: values that they lack are nil.
        let isWhole: Bool
    }

    let name: String
    let kind: Kind
    /// The place in a resource; nil for a property that resources do not have.
    let path: JSONPath?
    /// The object within a resource that contains the property with others, or that is the property itself: a change of the property is sent with the
    /// rest of the object. Nil for a value that is sent alone.
    let holder: JSONPath?
    /// The name in filters and sort keys.
    let queryName: String
    let isReadOnly: Bool
    /// Whether it is text, whose order may differ in the service.
    let isText: Bool
    /// The form of its dates, by its transform or by the style.
    let dates: DateSpelling
    let dateWrapping: ServiceStyle.Wrapping?

    /// Whether it is a date in the form of text.
    var isDateText: Bool {
        if case .attribute(.dateAttributeType, _) = kind { dates.isText } else { false }
    }

    /// The steps between the dates that filters can have; nil if they can have all dates, and for attributes of other types.
    var dateSteps: DateSteps? {
        if case .attribute(.dateAttributeType, _) = kind { dates.steps } else { nil }
    }

    /// Returns the object within a resource that contains a value.
    ///
    /// - Parameters:
    ///   - outer: The object with all values of a resource.
    ///   - isObject: Whether the value is an object of several values.
    static func holder(of path: JSONPath?, in outer: JSONPath, isObject: Bool) -> JSONPath? {
        guard let path, path.steps.starts(with: outer.steps) else { return nil }
        let inner = path.steps.dropFirst(outer.steps.count)
        guard inner.count > 1 || isObject, inner.allSatisfy({ if case .key = $0 { true } else { false } }) else { return nil }
        return JSONPath(steps: Array(path.steps.prefix(outer.steps.count + 1)))
    }

    /// Whether it is a to-one reference that the service keeps as the only element of a list.
    var isOnlyElement: Bool {
        guard case .toOne = kind, let steps = path?.steps, case .element(0)? = steps.last else { return false }
        return steps.dropLast().allSatisfy { if case .key = $0 { true } else { false } }
    }

    var isAttribute: Bool {
        switch kind {
        case .attribute, .composite: true
        case .toOne, .toMany: false
        }
    }
}

extension PropertyPlan {
    /// The entity of the destination; nil for an attribute.
    var destination: String? {
        switch kind {
        case .toOne(let reference), .toMany(let reference, _, _): reference.entity
        case .attribute, .composite: nil
        }
    }
    /// Whether destinations are embedded in place of references to them.
    var embeds: Bool {
        switch kind {
        case .toOne(let reference), .toMany(let reference, _, _): if case .object = reference.style { true } else { false }
        case .attribute, .composite: false
        }
    }
}
