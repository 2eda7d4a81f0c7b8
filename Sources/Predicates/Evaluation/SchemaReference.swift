import Foundation

/// A schema in compiled closures, which do not retain it.
///
/// Predicate objects cache the tests compiled for a schema. If the closures retained it, a predicate in a static variable would keep
/// every schema, and with it the host's model or store, alive for the lifetime of the program. A ``CompiledPredicate`` in use retains the
/// schemas instead.
struct SchemaReference {
    /// The caller of the closures retains the schemas of ``PredicateCompiler/schemas``.
    private unowned(unsafe) let schema: any PredicateSchema

    /// Called by ``PredicateCompiler/reference(to:)`` only, which retains the schema too.
    init(_ schema: any PredicateSchema) {
        self.schema = schema
    }

    var schemaName: String { schema.schemaName }

    /// Whether the properties of the subjects are known at run time only.
    var isPlain: Bool { schema is PlainSchema }

    func predicateProperty(named key: String) -> PredicateProperty? { schema.predicateProperty(named: key) }

    func identity(of subject: PredicateSubject) -> PropertyValue { schema.identity(of: subject) }

    func constant(for object: AnyObject) -> PropertyValue? { schema.constant(for: object) }

    func publicObject(of subject: PredicateSubject) -> Any { schema.publicObject(of: subject) }

    func fetch(_ request: PropertyValue, context: PropertyValue, countOnly: Bool) throws -> PropertyValue {
        try schema.fetch(request, context: context, countOnly: countOnly)
    }
}
