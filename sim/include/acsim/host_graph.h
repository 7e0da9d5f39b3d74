/* Host side: REG_OP, the operator's declaration for graph mode. Nothing here runs graphs: the chain is taken and forgotten, so that
 * op_host sources which include it compile. */
#ifndef ACSIM_HOST_GRAPH_H
#define ACSIM_HOST_GRAPH_H

#include "acsim/host_types.h"

namespace ge {
struct acsim_graph_op {
  acsim_graph_op parameter() const { return {}; }
};
} // namespace ge
#define REG_OP(x) static const ge::acsim_graph_op acsim_graph_##x = ge::acsim_graph_op()
#define INPUT(...) parameter()
#define OPTIONAL_INPUT(...) parameter()
#define DYNAMIC_INPUT(...) parameter()
#define OUTPUT(...) parameter()
#define OPTIONAL_OUTPUT(...) parameter()
#define DYNAMIC_OUTPUT(...) parameter()
#define ATTR(...) parameter()
#define REQUIRED_ATTR(...) parameter()
#define DATATYPE(...) parameter()
#define OP_END_FACTORY_REG(x) parameter();
#endif
