internal import RemoteStore

/// A writer of rows, with data that is looked up once for many rows.
final class ItemSink {
    let entity: String
    let plan: ItemPlan
    let writer: ResourceRowWriter
    /// The columns of the properties, in the order of the item's plan.
    let columns: [ResourceColumn?]
    /// The readers of embedded resources, in the same order.
    let embedded: [EmbeddedItem?]

    init(_ entity: String, _ plan: ItemPlan, _ writer: ResourceRowWriter, _ columns: [ResourceColumn?], _ embedded: [EmbeddedItem?]) {
        (self.entity, self.plan, self.writer, self.columns, self.embedded) = (entity, plan, writer, columns, embedded)
    }
}

/// The reader of a resource that is embedded in place of a reference, if its entity is known.
struct EmbeddedItem {
    let plan: ItemPlan
    /// Whether missing values are nil.
    let isWhole: Bool

    init?(_ property: PropertyPlan, _ shapes: ItemShapes) {
        guard case .toOne(let reference) = property.kind, !reference.hasSubentities, let plan = shapes[reference.entity],
            plan.plan.kinds == nil
        else { return nil }
        switch reference.style {
        case .identifier, .object: (self.plan, isWhole) = (plan, reference.isWhole)
        case .typed, .link, .pointer: return nil
        }
    }
}
