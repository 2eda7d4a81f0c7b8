import Foundation

/// A schema as compiled closures hold it: without owning it.
///
/// Predicate objects keep what was compiled for a schema. If the closures owned it, a predicate in a static variable would keep every
/// schema, and with it the host's model or store, for as long as the program runs. ``CompiledPredicate`` owns the schemas instead, while somebody uses
/// it.
struct SchemaReference {
    /// Whoever runs the closures owns the schemas of ``PredicateCompiler/schemas``.
    private unowned(unsafe) let schema: any PredicateSchema

    /// Only ``PredicateCompiler/reference(to:)`` makes one, as it keeps the schema too.
    init(_ schema: any PredicateSchema) {
        self.schema = schema
    }

    var schemaName: String { schema.schemaName }

    /// Whether nothing is known about the subjects beforehand.
    var isPlain: Bool { schema is PlainSchema }

    func predicateProperty(named key: String) -> PredicateProperty? { schema.predicateProperty(named: key) }

    func identity(of subject: PredicateSubject) -> PropertyValue { schema.identity(of: subject) }

    func constant(for object: AnyObject) -> PropertyValue? { schema.constant(for: object) }

    func publicObject(of subject: PredicateSubject) -> Any { schema.publicObject(of: subject) }

    func fetch(_ request: PropertyValue, context: PropertyValue, countOnly: Bool) throws -> PropertyValue {
        try schema.fetch(request, context: context, countOnly: countOnly)
    }
}
