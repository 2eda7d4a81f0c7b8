/// The destination rows of a relationship, all of one table: their row numbers and their origin.
package struct RelatedNumbers {
    package let numbers: ArraySlice<Int64>
    package let origin: RowOrigin

    package init(numbers: ArraySlice<Int64>, origin: RowOrigin) {
        self.numbers = numbers
        self.origin = origin
    }

    var ids: [NSManagedObjectID] { numbers.map(origin.id) }
}
