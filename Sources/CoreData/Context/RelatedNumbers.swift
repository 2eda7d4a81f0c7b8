/// The destination rows of a relationship, all of one table: their row numbers and their origin.
struct RelatedNumbers {
    let numbers: ArraySlice<Int64>
    let origin: RowOrigin

    var ids: [NSManagedObjectID] { numbers.map(origin.id) }
}
