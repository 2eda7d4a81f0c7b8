#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension MappedSaveRun: MappedValueWriting {
    typealias Dialect = PostgreSQLTableDialect

    func value(
        of row: Row, _ slot: RowLayout.Slot, _ storage: SQLStorage, _ attribute: NSAttributeDescription, _ form: ColumnForm
    ) throws -> BinaryValue {
        if form.isJSON {
            guard !row.isNil(at: slot), let value = row.box(at: slot)?.value else { return .null(PostgreSQLType.text) }
            let text = try JSONColumn.text(value, attribute)
            if JSONColumn.hasZeroCharacter(text) { throw unsavable(attribute, "PostgreSQL's JSON has no U+0000.", row) }
            return .verbatim(text)
        }
        let value = try ColumnValues.value(of: row, slot, storage, attribute)
        guard case .text(let text) = value else { return value }
        if text.utf8.contains(0) { throw unsavable(attribute, "PostgreSQL's text has no U+0000.", row) }
        return .verbatim(text)
    }

    func newUUID(_ column: CatalogueColumn) -> BinaryValue { .uuid(UUID()) }

    func areEqual(_ first: BinaryValue, _ second: BinaryValue) -> Bool { Parameters([first]).bytes == Parameters([second]).bytes }
}
#endif
