internal import ObjectGraph

/// The entities of a model and the names of their properties: what a mapping model file says of the models that it maps between.
struct ModelOutline: Equatable {
    /// The names of the properties that each entity declares or inherits.
    var entities: [String: Set<String>]

    init(entities: [String: Set<String>]) { self.entities = entities }
}
