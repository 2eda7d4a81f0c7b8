internal import ObjectGraph
internal import RemoteStore

/// What is known of a property before any request: its type, and where and how the service has it.
struct PropertyPlan: Sendable {
    /// The kinds of properties.
    enum Kind: Sendable {
        case attribute(NSAttributeType, ValueTransform)
        case toOne(Reference)
        case toMany(Reference, isOrdered: Bool, isWhole: Bool)
        /// An attribute with parts of its own, each at its own place.
        case composite([PropertyPlan])
    }

    /// How references are written, and to what.
    struct Reference: Sendable {
        let entity: String
        let hasSubentities: Bool
        let style: ReferenceStyle
        /// Whether objects that come along are whole: what they lack is nil.
        let isWhole: Bool
    }

    let name: String
    let kind: Kind
    /// The place in a resource; nil for a property that resources do not have.
    let path: JSONPath?
    /// The object within a resource that it stands in, or that it is, and that others stand in, too: a change of it is sent with the rest of that object. Nil
    /// for a value that stands for itself.
    let holder: JSONPath?
    /// The name in filters and sort keys.
    let queryName: String
    let isReadOnly: Bool
    /// Whether it is text: its order may be another one in the service.
    let isText: Bool
    /// How its dates are written: as its transform says, or the style.
    let dates: DateSpelling
    let dateWrapping: ServiceStyle.Wrapping?

    /// Whether it is a date that is written as text.
    var isDateText: Bool {
        if case .attribute(.dateAttributeType, _) = kind { dates.isText } else { false }
    }

    /// The steps of the dates that filters can be given; nil for all, and for attributes of other types.
    var dateSteps: DateSteps? {
        if case .attribute(.dateAttributeType, _) = kind { dates.steps } else { nil }
    }

    /// Returns the object that a value stands in within a resource.
    ///
    /// - Parameters:
    ///   - outer: The place where resources have all their values.
    ///   - isObject: Whether the value is an object of several values.
    static func holder(of path: JSONPath?, in outer: JSONPath, isObject: Bool) -> JSONPath? {
        guard let path, path.steps.starts(with: outer.steps) else { return nil }
        let inner = path.steps.dropFirst(outer.steps.count)
        guard inner.count > 1 || isObject, inner.allSatisfy({ if case .key = $0 { true } else { false } }) else { return nil }
        return JSONPath(steps: Array(path.steps.prefix(outer.steps.count + 1)))
    }

    /// Whether it is a reference to one that the service keeps as a list, whose only element it is.
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
    /// Whether destinations stand in the place of references to them.
    var embeds: Bool {
        switch kind {
        case .toOne(let reference), .toMany(let reference, _, _): if case .object = reference.style { true } else { false }
        case .attribute, .composite: false
        }
    }
}
